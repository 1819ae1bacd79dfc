{{/*
URL for the canary: (list root "rest" "http"). It is that of outside clients when the ingress has a host and TLS. The chart
does not know whether TLS ends elsewhere, and a key must never be sent in clear text.
*/}}
{{- define "fxd.canaryUrl" -}}
{{- $root := index . 0 -}}
{{- $ingress := $root.Values.ingress -}}
{{- $given := get $root.Values.canary (printf "%sUrl" (index . 1)) -}}
{{- if $given }}{{ $given }}
{{- else if eq (include "fxd.canaryIsInside" $root) "true" }}{{ index . 2 }}://{{ include "fxd.fullname" $root }}-{{ index . 1 }}:8080
{{- else if and $ingress.enabled $ingress.hosts $ingress.tls }}{{ index . 2 }}s://{{ first $ingress.hosts }}
{{- else }}{{ fail "set canary.restUrl and canary.streamUrl: they follow from ingress.hosts only where ingress.tls is set" }}
{{- end }}
{{- end }}

{{/* Whether the canary uses the Services, because no value names a URL for outside clients. */}}
{{- define "fxd.canaryIsInside" -}}
{{- $values := .Values -}}
{{- not (or $values.canary.restUrl $values.canary.streamUrl (and $values.ingress.enabled $values.ingress.hosts) $values.httpRoute.enabled) }}
{{- end }}

{{/* The feeds of its symbols, as JSON. */}}
{{- define "fxd.canaryFeeds" -}}
{{- $feeds := list -}}
{{- range .Values.canary.symbols }}
{{- $feeds = append $feeds (slice (splitList ":" .) 0 2 | join ":") -}}
{{- end }}
{{- uniq $feeds | toJson }}
{{- end }}
