package payload

import "fmt"

// GitHubUser is an entry of GitHub's GET /users.
type GitHubUser struct {
	Login             string `json:"login"`
	ID                int64  `json:"id"`
	NodeID            string `json:"node_id"`
	AvatarURL         string `json:"avatar_url"`
	GravatarID        string `json:"gravatar_id"`
	URL               string `json:"url"`
	HTMLURL           string `json:"html_url"`
	FollowersURL      string `json:"followers_url"`
	FollowingURL      string `json:"following_url"`
	GistsURL          string `json:"gists_url"`
	StarredURL        string `json:"starred_url"`
	SubscriptionsURL  string `json:"subscriptions_url"`
	OrganizationsURL  string `json:"organizations_url"`
	ReposURL          string `json:"repos_url"`
	EventsURL         string `json:"events_url"`
	ReceivedEventsURL string `json:"received_events_url"`
	Type              string `json:"type"`
	UserViewType      string `json:"user_view_type"`
	SiteAdmin         bool   `json:"site_admin"`
}

// GitHubUsers writes n users, as GET /users answers.
func GitHubUsers(n int) []byte {
	m := newMaker(2)
	return encode(list(n, func(int) GitHubUser { return m.gitHubUser() }))
}

// OneGitHubUser writes one user.
func OneGitHubUser() []byte { return encode(newMaker(2).gitHubUser()) }

func (m maker) gitHubUser() GitHubUser {
	login, id := m.text("freight-", digits, 8), m.random.Int64N(1e8)
	page := "https://api.github.com/users/" + login
	return GitHubUser{
		Login: login, ID: id, NodeID: m.text("MDQ6", letters, 16), URL: page, HTMLURL: "https://github.com/" + login,
		AvatarURL:    fmt.Sprintf("https://avatars.githubusercontent.com/u/%d?v=4", id),
		FollowersURL: page + "/followers", FollowingURL: page + "/following{/other_user}", GistsURL: page + "/gists{/gist_id}",
		StarredURL: page + "/starred{/owner}{/repo}", SubscriptionsURL: page + "/subscriptions", OrganizationsURL: page + "/orgs",
		ReposURL: page + "/repos", EventsURL: page + "/events{/privacy}", ReceivedEventsURL: page + "/received_events",
		Type: "User", UserViewType: "public", SiteAdmin: m.yes(1),
	}
}
