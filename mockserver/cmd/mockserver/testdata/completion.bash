# bash completion of mockserver
_mockserver() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		COMPREPLY=($(compgen -W "run paint help" -- "$cur"))
		return
	fi
	case "${COMP_WORDS[1]} $prev" in
	"run -file") compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")); return ;;
	"run -kind") COMPREPLY=($(compgen -W "red blue" -- "$cur")); return ;;
	"run -wait") return ;;
	esac
	case "${COMP_WORDS[1]}" in
	run) COMPREPLY=($(compgen -W "-file -json -kind -wait" -- "$cur")) ;;
	paint) COMPREPLY=($(compgen -W "red blue" -- "$cur")) ;;
	help) COMPREPLY=($(compgen -W "run paint help" -- "$cur")) ;;
	esac
}
complete -F _mockserver mockserver
