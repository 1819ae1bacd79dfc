{{/* Whether to create an object of the Prometheus operator: (list root "Auto" "PodMonitor"). */}}
{{- define "fxd.makes" -}}
{{- $mode := index . 1 -}}
{{- if or (eq $mode "Always") (and (eq $mode "Auto") ((index . 0).Capabilities.APIVersions.Has (printf "monitoring.coreos.com/v1/%s" (index . 2)))) }}true{{ end }}
{{- end }}
