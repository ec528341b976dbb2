package openapi

// Parse reads an object as Load does.
func Parse(text string) error {
	_, err := parse([]byte(text))
	return err
}
