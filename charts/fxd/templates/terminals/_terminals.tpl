{{/* How terminals reach collectors, for the operator: the environment of their endpoints and the routed addresses. */}}
{{- define "fxd.terminals" -}}
{{- $proxies := .Values.trustedProxies | default nil | required "terminals.enabled needs trustedProxies, the addresses of the ingress controller's pods: the endpoints of collectors have no TLS" -}}
env:
  - {name: FXD_TERMINAL_ADDR, value: {{ printf "%s:8090" .Values.listenAddress | quote }}}
  - {name: FXD_TRUSTED_PROXIES, value: {{ join "," $proxies | quote }}}
{{- with .Values.terminals.feeds }}
url: {{ include "fxd.terminalsUrl" $ }}
feeds: {{ toJson . }}
{{- end }}
{{- end }}

{{- define "fxd.terminalsUrl" -}}
{{- with .Values.terminals -}}
{{- ternary "https" "http" (or (not (empty .tls)) (not (empty .parentRefs))) }}://{{ .host | required "terminals.host is needed with terminals.feeds" }}
{{- end }}
{{- end }}
