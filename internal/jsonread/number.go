package jsonread

import "strconv"

// Number reads a number and returns its piece of the text.
func (s *scanner) Number() []byte {
	negative := s.Peek() == '-'
	start, i := s.pos, s.pos
	if negative {
		i++
	}
	whole := digitsEnd(s.text, i)
	if whole == i || whole > i+1 && s.text[i] == '0' {
		s.Fail()
		return nil
	}
	i = whole
	if i < len(s.text) && s.text[i] == '.' {
		end := digitsEnd(s.text, i+1)
		if end == i+1 {
			s.Fail()
			return nil
		}
		i = end
	}
	if i < len(s.text) && s.text[i]|0x20 == 'e' {
		i++
		if i < len(s.text) && (s.text[i] == '+' || s.text[i] == '-') {
			i++
		}
		end := digitsEnd(s.text, i)
		if end == i {
			s.Fail()
			return nil
		}
		i = end
	}
	s.pos = i
	return s.text[start:i]
}

func digitsEnd(text []byte, i int) int {
	for i < len(text) && text[i]-'0' <= 9 {
		i++
	}
	return i
}

// exactDigits is how many decimal digits an int64 and a float64 always hold exactly.
const exactDigits = 15

// Int reads a number. ok is false if it is not written as an integer, or is one beyond an int64.
func (s *scanner) Int() (n int64, ok bool) {
	text := s.Number()
	if n, ok = shortInt(text); ok {
		return n, true
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	return n, err == nil
}

// Float reads a number. ok is false if it is beyond a float64.
func (s *scanner) Float() (n float64, ok bool) {
	text := s.Number()
	if n, ok := shortInt(text); ok {
		return float64(n), true
	}
	n, err := strconv.ParseFloat(string(text), 64)
	return n, err == nil
}

// shortInt reads up to 15 digits without a sign, which an int64 and a float64 hold exactly.
func shortInt(text []byte) (n int64, ok bool) {
	if len(text) > exactDigits {
		return 0, false
	}
	for _, c := range text {
		digit := c - '0'
		if digit > 9 {
			return 0, false
		}
		n = n*10 + int64(digit)
	}
	return n, len(text) > 0
}
