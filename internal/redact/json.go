package redact

import (
	"encoding/json"
	"strings"
)

// JSON returns a JSON value without the key, as JSON also if the key is a number or a part of one.
func (k Key) JSON(value string) string {
	const hidden = `"` + Mark + `"`
	safe := k.Text(value)
	switch {
	case safe == value || json.Valid([]byte(safe)):
		return safe
	case !json.Valid([]byte(value)):
		return hidden
	}
	var out strings.Builder
	for rest := value; rest != ""; {
		var token string
		token, rest = cutToken(rest)
		switch c := token[0]; {
		case c == '"':
			if text := `"` + k.Text(token[1:len(token)-1]) + `"`; json.Valid([]byte(text)) {
				out.WriteString(text)
			} else {
				out.WriteString(hidden)
			}
		case isNumber(c) && k.In(token):
			out.WriteString(`"` + k.Text(token) + `"`)
		default:
			out.WriteString(token)
		}
	}
	if k.In(out.String()) { // in several values
		return hidden
	}
	return out.String()
}

// cutToken cuts valid JSON after a string, a number, or any other character.
func cutToken(text string) (token, rest string) {
	end := 1
	switch c := text[0]; {
	case c == '"':
		for ; text[end] != '"'; end++ {
			if text[end] == '\\' {
				end++
			}
		}
		end++
	case isNumber(c):
		for end < len(text) && (isNumber(text[end]) || strings.IndexByte("+.eE", text[end]) >= 0) {
			end++
		}
	}
	return text[:end], text[end:]
}

func isNumber(start byte) bool { return start == '-' || '0' <= start && start <= '9' }
