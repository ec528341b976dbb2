package openapi

// ServiceFile returns service.json.
func ServiceFile() []byte { return serviceFile }

// Parse reads an object as Load does.
func Parse(text string) error {
	_, err := parse([]byte(text))
	return err
}
