{{/* PodTemplateSpec of collectors in YAML, with labels and annotations of their StatefulSets. The operator completes it
for each Feed. */}}
{{- define "fxd.collectorTemplate" -}}
{{- $part := dict "root" . "component" "collector" "of" .Values.collector "each" "marketdata.fxd.dev/feed" }}
{{- $env := list
  (printf "- {name: FXD_INGEST, value: %q}" (printf "%s-ingest:8090" (include "fxd.fullname" .)))
  (include "fxd.caEnv" .) }}
workloadMetadata:
  {{- include "fxd.labelsAndAnnotations" $part | nindent 2 }}
{{- if .Values.terminals.enabled }}
terminals:
  {{- include "fxd.terminals" . | nindent 2 }}
{{- end }}
metadata:
  {{- include "fxd.podMetadata" $part | nindent 2 }}
spec:
  {{- include "fxd.podBasics" $part | nindent 2 }}
  {{- include "fxd.spread" $part | nindent 2 }}
  terminationGracePeriodSeconds: 45
  containers:
    - {{- include "fxd.container" (merge (dict
        "role" "collector"
        "env" (join "\n" (compact $env))
        "ports" ""
        "mounts" (include "fxd.caMount" . | trim)) $part) | nindent 6 }}
  {{- with include "fxd.caVolume" . | trim }}
  volumes:
    {{- . | nindent 4 }}
  {{- end }}
{{- end }}
