{{/* A quantity of bytes, such as 1536Mi, in MiB. */}}
{{- define "fxd.mib" -}}
{{- $text := toString . -}}
{{- $units := dict "" 1 "k" 1000 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- $unit := regexFind "[a-zA-Z]*$" $text -}}
{{- divf (mulf (trimSuffix $unit $text | float64) (index $units $unit | float64)) 1048576 | floor | int64 -}}
{{- end }}

{{/* Fails where the limit of memory is below the need of a store: (dict "name" "redis" "of" values "needs" MiB "why" text). */}}
{{- define "fxd.checkMemory" -}}
{{- with ((.of.resources).limits).memory -}}
{{- if lt (include "fxd.mib" . | int64) (int64 $.needs) -}}
{{- fail (printf "%s.resources.limits.memory: got %v, wanted at least %dMi, because %s; above the limit Kubernetes kills the pod" $.name . (int64 $.needs) $.why) -}}
{{- end -}}
{{- end -}}
{{- end }}
