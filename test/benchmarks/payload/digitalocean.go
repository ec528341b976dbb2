package payload

import "time"

// OceanVolume is an entry of DigitalOcean's GET /v2/volumes.
type OceanVolume struct {
	ID              string      `json:"id"`
	Region          OceanRegion `json:"region"`
	Name            string      `json:"name"`
	SizeGigabytes   int64       `json:"size_gigabytes"`
	Description     string      `json:"description"`
	DropletIDs      []int       `json:"droplet_ids"`
	CreatedAt       time.Time   `json:"created_at"`
	FilesystemType  string      `json:"filesystem_type"`
	FilesystemLabel string      `json:"filesystem_label"`
	Tags            []string    `json:"tags"`
}

// OceanRegion is where a volume is.
type OceanRegion struct {
	Slug      string   `json:"slug"`
	Name      string   `json:"name"`
	Sizes     []string `json:"sizes"`
	Available bool     `json:"available"`
	Features  []string `json:"features"`
}

// OceanList is a page of volumes.
type OceanList struct {
	Volumes []OceanVolume `json:"volumes"`
	Links   struct{}      `json:"links"`
	Meta    struct {
		Total int `json:"total"`
	} `json:"meta"`
}

// OceanOne is the response for one volume.
type OceanOne struct {
	Volume OceanVolume `json:"volume"`
}

// OceanVolumes writes n volumes, as GET /v2/volumes answers.
func OceanVolumes(n int) []byte {
	m := newMaker(5)
	page := OceanList{Volumes: list(n, func(int) OceanVolume { return m.oceanVolume() })}
	page.Meta.Total = n
	return encode(page)
}

// OneOceanVolume writes one volume.
func OneOceanVolume() []byte { return encode(OceanOne{newMaker(5).oceanVolume()}) }

func (m maker) oceanVolume() OceanVolume {
	return OceanVolume{
		ID: m.uuid(), Name: m.text("ledger-archive-", digits, 4), SizeGigabytes: 10 * m.random.Int64N(100),
		Description: "Archive of wallet statements and customs documents, encrypted at rest and kept for ten years",
		DropletIDs:  []int{m.random.IntN(1e9)}, CreatedAt: m.moment(), FilesystemType: "ext4", FilesystemLabel: "archive",
		Tags: []string{"production", "ledger", "customs"},
		Region: OceanRegion{
			Slug: "nyc1", Name: "New York 1", Available: true,
			Sizes: []string{
				"s-1vcpu-1gb", "s-1vcpu-2gb", "s-2vcpu-2gb", "s-2vcpu-4gb", "s-4vcpu-8gb", "s-6vcpu-16gb", "s-8vcpu-32gb",
				"c-2", "c-4", "c-8", "c-16", "c-32", "g-2vcpu-8gb", "g-4vcpu-16gb", "g-8vcpu-32gb", "gd-2vcpu-8gb", "gd-4vcpu-16gb",
				"m-2vcpu-16gb", "m-4vcpu-32gb", "m-8vcpu-64gb", "so-2vcpu-16gb", "so-4vcpu-32gb", "gpu-h100x1-80gb",
				"s-1vcpu-1gb-amd", "s-1vcpu-2gb-amd", "s-2vcpu-4gb-amd", "s-4vcpu-8gb-intel",
			},
			Features: []string{"private_networking", "backups", "ipv6", "metadata", "install_agent", "storage", "image_transfer"},
		},
	}
}
