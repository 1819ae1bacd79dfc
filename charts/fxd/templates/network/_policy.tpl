{{/* One policy: (dict "root" . "name" "clients" "components" (list "rest") "ingress" text "egress" text). */}}
{{- define "fxd.policy" -}}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  {{- include "fxd.metadata" (dict "root" .root "component" "network" "name" (printf "%s-%s" (include "fxd.fullname" .root) .name) "annotations" .annotations) | nindent 2 }}
spec:
  podSelector:
    {{- include "fxd.pods" (list .root .components) | nindent 4 }}
  policyTypes: [{{ ternary "Ingress" "Egress" (hasKey . "ingress") }}]
  {{- with .ingress }}
  ingress:
    {{- . | nindent 4 }}
  {{- end }}
  {{- with .egress }}
  egress:
    {{- . | nindent 4 }}
  {{- end }}
{{ end }}

{{/* Selector of the pods of these parts: (list root (list "rest" "stream")). */}}
{{- define "fxd.pods" -}}
matchLabels:
  app.kubernetes.io/name: fxd
  app.kubernetes.io/instance: {{ (index . 0).Release.Name | quote }}
matchExpressions:
  - {key: app.kubernetes.io/component, operator: In, values: {{ toJson (index . 1) }}}
{{- end }}

{{/* Rule from or to these parts: (list root "from" (list "rest") (list 8090)). */}}
{{- define "fxd.between" -}}
- {{ index . 1 }}:
    - podSelector:
        {{- include "fxd.pods" (list (index . 0) (index . 2)) | nindent 8 }}
  ports:
    {{- include "fxd.tcpPorts" (index . 3) | nindent 4 }}
{{- end }}

{{/* Rule from or to these peers; without peers, any address. (list "to" peers ports) */}}
{{- define "fxd.peers" -}}
- ports:
    {{- include "fxd.tcpPorts" (index . 2) | nindent 4 }}
  {{- with index . 1 }}
  {{ index $ 0 }}:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{- define "fxd.tcpPorts" -}}
{{- range . }}
- {port: {{ int . }}, protocol: TCP}
{{- end }}
{{- end }}
