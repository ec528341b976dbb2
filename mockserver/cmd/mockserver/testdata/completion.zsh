#compdef mockserver
_mockserver() {
	if (( CURRENT == 2 )); then
		local -a choices=(
			'run:run it: at once'
			'paint:the painter'\''s word'
			help:help
		)
		_describe word choices
		return
	fi
	local word=$words[2]
	shift words
	(( CURRENT-- ))
	case $word in
	run) _arguments \
		'-file[read a FILE, such as {"addr"\:"127.0.0.1\:0"}]:FILE:_files' \
		'-json[print JSON]' \
		'-kind[the KIND of the user'\''s \[own\]]:KIND:(red blue)' \
		'-wait[wait this TIME]:TIME:' ;;
	paint) _arguments \
		':argument:(red blue)' ;;
	help) _arguments \
		':argument:(run paint help)' ;;
	esac
}
if [ "$funcstack[1]" = _mockserver ]; then _mockserver "$@"; else compdef _mockserver mockserver; fi
