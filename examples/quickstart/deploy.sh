#!/bin/sh
# Brings one version of the site into one folder. The agent runs this once for each job:
#
#     deploy.sh FOLDER VERSION
#
# What is served is FOLDER/current, a link that is changed in one step once the whole copy is there: a visitor sees the
# old site or the new one, and a copy that breaks off changes nothing.
set -eu

folder=$1
version=$2
build=$(dirname "$0")/builds/$version

if [ ! -d "$build" ]; then
    echo "there is no build of $version in $(dirname "$build")" >&2
    exit 3
fi
mkdir -p "$folder"

# One copy at a time. A lock whose process is gone was left by a copy that broke off: we can't know how far it came, so
# we remove its remains and fail; the next attempt starts clean.
lock=$folder/.deploying
if ! (set -C && echo $$ >"$lock") 2>/dev/null; then
    owner=$(cat "$lock" 2>/dev/null || echo 0)
    if [ "$owner" -gt 0 ] 2>/dev/null && kill -0 "$owner" 2>/dev/null; then
        echo "another copy into $folder is running (process $owner)" >&2
    else
        rm -rf "$folder"/.copy.* "$lock"
        echo "an earlier copy into $folder broke off; its remains are removed" >&2
    fi
    exit 1
fi
trap 'rm -rf "$folder/.copy.$$" "$lock"' EXIT

echo "copying $version into $folder (attempt ${TIDEGATE_ATTEMPT:-1})"
copy=$version.$$
cp -R "$build" "$folder/.copy.$$"
mv "$folder/.copy.$$" "$folder/$copy"
ln -s "$copy" "$folder/.copy.$$"
# -T (GNU) and -h (BSD) keep mv from moving the new link into the folder that the old one points to.
mv -fT "$folder/.copy.$$" "$folder/current" 2>/dev/null || mv -fh "$folder/.copy.$$" "$folder/current"
for old in "$folder"/*; do
    case $old in
    "$folder/current" | "$folder/$copy") ;;
    *) rm -rf "$old" ;;
    esac
done
echo "$folder serves $version"
