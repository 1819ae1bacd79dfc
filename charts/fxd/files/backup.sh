# Copies the folder DATA of a running QuestDB into BACKUPS and keeps the newest KEEP copies.
# curl reads the password from its standard input, so no process argument shows it and it needs no quoting.
sql() {
  printf 'header = "Authorization: Basic %s"\n' "$(printf '%s:%s' "$QUESTDB_USER" "$QUESTDB_PASSWORD" | base64 -w0)" |
    curl --config - -fsSG --max-time 600 --data-urlencode "query=$1" "$QUESTDB/exec" >/dev/null
}
# A second run would release the checkpoint of the first.
exec 9>"$BACKUPS/.lock"
flock -n 9 || { echo 'another backup is running' >&2; exit 1; }
name=questdb-$(date -u +%Y%m%dT%H%M%SZ).tar
release() { sql 'CHECKPOINT RELEASE'; }

# Remove the checkpoint and the partial copy of a killed run.
release 2>/dev/null || true
rm -f "$BACKUPS"/*.partial

trap 'release || true' EXIT
sql 'CHECKPOINT CREATE'
# tar exits with 1 when files newer than the checkpoint changed or disappeared while it read.
tar -C "$DATA" --exclude=./lost+found -cf "$BACKUPS/$name.partial" . || [ $? -eq 1 ]
trap - EXIT
release
sync "$BACKUPS/$name.partial"
mv "$BACKUPS/$name.partial" "$BACKUPS/$name"
echo "$name was written: $(wc -c <"$BACKUPS/$name") bytes"

ls -1 "$BACKUPS"/questdb-*.tar | sort -r | tail -n "+$((KEEP + 1))" | while read -r old; do
  rm -f "$old"
  echo "${old##*/} was removed"
done
