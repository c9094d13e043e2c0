# $1 mark of our own line, $2 name of a folder; it is removed at the end of our input, which is the
# end of who asked for it
all=$HOME/.outfitter-skills
dir=$all/$2
(umask 077 && mkdir -p -- "$all" && mkdir -- "$dir") 2>/dev/null || {
    echo "$1 cannot"
    exit 1
}
echo "$1 kept $dir"
cat >/dev/null
chmod -R u+w -- "$dir" 2>/dev/null
rm -rf -- "$dir"
rmdir -- "$all" 2>/dev/null
