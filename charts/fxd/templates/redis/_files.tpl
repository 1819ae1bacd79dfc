{{/* The list of users with the names and the prefix of the values, still without passwords. */}}
{{- define "fxd.redisUsers" -}}
{{- $text := .Files.Get "files/redis-users.acl" | replace "~fxd:" (printf "~%s" .Values.redis.prefix) -}}
{{- range list "rest" "stream" "ingest" -}}
{{- if eq (index $.Values.redis.users .).user "default" }}{{ fail (printf "redis.users.%s.user cannot be default where redis.enabled is true: that user may only ping" .) }}{{ end -}}
{{- $text = $text | replace (printf "user fxd-%s " .) (printf "user %s " (index $.Values.redis.users .).user) -}}
{{- end -}}
{{- range splitList "\n" $text }}{{ if hasPrefix "user " . }}{{ . }}
{{ end }}{{ end -}}
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
