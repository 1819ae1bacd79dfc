{{/* Where the canary asks: (list root "rest" "http"). As clients outside do, where an ingress has a host. */}}
{{- define "fxd.canaryUrl" -}}
{{- $root := index . 0 -}}
{{- $ingress := $root.Values.ingress -}}
{{- $given := get $root.Values.canary (printf "%sUrl" (index . 1)) -}}
{{- if $given }}{{ $given }}
{{- else if and $ingress.enabled $ingress.hosts }}{{ index . 2 }}{{ if $ingress.tls }}s{{ end }}://{{ first $ingress.hosts }}
{{- else }}{{ index . 2 }}://{{ include "fxd.fullname" $root }}-{{ index . 1 }}:8080
{{- end }}
{{- end }}

{{/* The feeds of its symbols, as JSON. */}}
{{- define "fxd.canaryFeeds" -}}
{{- $feeds := list -}}
{{- range .Values.canary.symbols }}
{{- $feeds = append $feeds (slice (splitList ":" .) 0 2 | join ":") -}}
{{- end }}
{{- uniq $feeds | toJson }}
{{- end }}
