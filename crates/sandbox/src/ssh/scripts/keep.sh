# $1 mark of our own line, $2 name of a folder, $3 who keeps it; it is removed at the end of our input,
# which is the end of who asked for it, unless somebody else keeps it by then
all=$HOME/.outfitter-skills
dir=$all/$2
keeper=$all/.$2
cannot() {
    echo "$1 cannot"
    exit 1
}
remove() {
    chmod -R u+w -- "$1" 2>/dev/null
    rm -rf -- "$1"
}
(umask 077 && mkdir -p -- "$all" && echo "$3" >"$keeper") 2>/dev/null || cannot "$1"
# One of a connection before, which may just be removing it: what it goes on with is the old one.
if [ -e "$dir" ] && mv -- "$dir" "$dir.$$" 2>/dev/null; then
    remove "$dir.$$"
fi
(umask 077 && mkdir -- "$dir") 2>/dev/null || cannot "$1"
echo "$1 kept $dir"
cat >/dev/null
[ "$(cat -- "$keeper" 2>/dev/null)" = "$3" ] || exit 0
remove "$dir"
rm -f -- "$keeper"
rmdir -- "$all" 2>/dev/null
