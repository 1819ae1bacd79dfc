{{/* The list of users with the names and the prefix of the values, still without passwords. */}}
{{- define "fxd.redisUsers" -}}
{{- $lines := .Files.Get "files/redis-users.acl" | replace "~fxd:" (printf "~%s" .Values.redis.prefix) | splitList "\n" -}}
{{- $names := dict -}}
{{- range $role := list "rest" "stream" "ingest" -}}
{{- $user := (index $.Values.redis.users $role).user -}}
{{- if eq $user "default" }}{{ fail (printf "redis.users.%s.user cannot be default where redis.enabled is true: that user may only ping" $role) }}{{ end -}}
{{- if hasKey $names $user }}{{ fail (printf "redis.users.%s.user: got %s, the user of another role; each role needs its own where redis.enabled is true" $role $user) }}{{ end -}}
{{- $_ := set $names $user $role -}}
{{- range $lines }}{{ if hasPrefix (printf "user fxd-%s " $role) . }}{{ replace (printf "user fxd-%s " $role) (printf "user %s " $user) . }}
{{ end }}{{ end -}}
{{- end -}}
user default on nopass resetkeys resetchannels -@all +ping
{{- end }}

{{- define "fxd.redisFiles" -}}
users.acl: |
  {{- include "fxd.redisUsers" . | nindent 2 }}
redis.conf: |
  bind * -::*
  protected-mode no
  port 6379
  dir /data
  appendonly yes
  appendfsync everysec
  maxmemory {{ .Values.redis.maxMemory }}
  maxmemory-policy noeviction
  aclfile /users/users.acl
{{- end }}
