{{/* Secrets that the values do not name: a dict of name to the key of the value. */}}
{{- define "fxd.generatedSecrets" -}}
{{- $made := dict -}}
{{- with .Values.secrets -}}
{{- if not .adminToken.existingSecret }}{{ $_ := set $made (include "fxd.adminSecret" $) .adminToken.key }}{{ end -}}
{{- if not .shardToken.existingSecret }}{{ $_ := set $made (include "fxd.shardSecret" $) .shardToken.key }}{{ end -}}
{{- if not .signingKeys.existingSecret }}{{ $_ := set $made (include "fxd.signingSecret" $) .signingKeys.key }}{{ end -}}
{{- if not .chartKeys.existingSecret }}{{ $_ := set $made (include "fxd.chartSecret" $) .chartKeys.key }}{{ end -}}
{{- end -}}
{{- range list "writer" "reader" -}}
{{- $user := index $.Values.questdb . -}}
{{- if not $user.existingSecret -}}
{{- if not $.Values.questdb.enabled }}{{ fail (printf "questdb.%s.existingSecret is needed where questdb.enabled is false: it holds the password of that user" .) }}{{ end -}}
{{- $_ := set $made (include "fxd.questdbSecret" (list $ .)) $user.key -}}
{{- end -}}
{{- end -}}
{{- range list "rest" "stream" "ingest" -}}
{{- $user := index $.Values.redis.users . -}}
{{- if not $user.existingSecret -}}
{{- if not $.Values.redis.enabled }}{{ fail (printf "redis.users.%s.existingSecret is needed where redis.enabled is false: it holds the password of that user" .) }}{{ end -}}
{{- $_ := set $made (include "fxd.redisSecret" (list $ .)) $user.key -}}
{{- end -}}
{{- end -}}
{{- toJson $made -}}
{{- end }}

{{/* A Job that calls the API server about those Secrets: (dict "root" . "does" "make" "script" text "hook" text),
with further rights and "env", a text with further variables. */}}
{{- define "fxd.secretsJob" -}}
{{- $part := dict "root" .root "component" "secrets" "of" .root.Values.secrets.job }}
{{- $name := printf "%s-secrets-%s" (include "fxd.fullname" .root) .does }}
{{- $hook := dict "helm.sh/hook" .hook "helm.sh/hook-delete-policy" "before-hook-creation,hook-succeeded" }}
{{- $first := merge (dict "helm.sh/hook-weight" "-10") $hook }}
apiVersion: v1
kind: ServiceAccount
metadata:
  {{- include "fxd.metadata" (dict "root" .root "component" "secrets" "name" $name "annotations" $first) | nindent 2 }}
automountServiceAccountToken: false
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  {{- include "fxd.metadata" (dict "root" .root "component" "secrets" "name" $name "annotations" $first) | nindent 2 }}
rules:
  {{- with .rules }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- if include "fxd.generatedSecrets" .root | fromJson }}
  - apiGroups: [""]
    resources: [secrets]
    verbs: {{ toJson .verbs }}
    {{- if .byName }}
    resourceNames: {{ keys (include "fxd.generatedSecrets" .root | fromJson) | sortAlpha | toJson }}
    {{- end }}
  {{- end }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  {{- include "fxd.metadata" (dict "root" .root "component" "secrets" "name" $name "annotations" $first) | nindent 2 }}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: {{ $name }}}
subjects:
  - {kind: ServiceAccount, name: {{ $name }}, namespace: {{ .root.Release.Namespace | quote }}}
---
apiVersion: batch/v1
kind: Job
metadata:
  {{- include "fxd.metadata" (merge (dict "name" $name "annotations" $hook) $part) | nindent 2 }}
spec:
  backoffLimit: 6
  activeDeadlineSeconds: 300
  template:
    metadata:
      {{- include "fxd.podMetadata" $part | nindent 6 }}
    spec:
      {{- include "fxd.podBasics" (merge (dict "serviceAccount" $name) $part) | nindent 6 }}
      restartPolicy: OnFailure
      containers:
        - name: secrets
          image: {{ include "fxd.image" (list .root .root.Values.image) | quote }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          command: [/usr/local/bin/node, --input-type=module-typescript, --eval]
          args:
            - |
              {{- .script | nindent 14 }}
          {{- $env := list
            "- {name: NODE_EXTRA_CA_CERTS, value: /var/run/secrets/kubernetes.io/serviceaccount/ca.crt}"
            (printf "- {name: RELEASE, value: %q}" .root.Release.Name)
            (printf "- {name: SECRETS, value: %q}" (include "fxd.generatedSecrets" .root))
            (.env | default "") }}
          env:
            {{- include "fxd.env" (list (join "\n" (compact $env)) .root.Values.secrets.job.extraEnv) | nindent 12 }}
          resources:
            {{- toYaml .root.Values.secrets.job.resources | nindent 12 }}
          securityContext:
            {{- include "fxd.containerSecurity" . | nindent 12 }}
{{- with .root.Values.networkPolicy }}
{{- if .enabled }}
{{- /* A hook too: the Job runs before the chart's other policies exist, or after they are gone. */}}
{{- $egress := include "fxd.peers" (list "to" .apiServer .apiServerPorts) }}
{{- with .extraEgress }}{{ $egress = printf "%s\n%s" $egress (toYaml .) }}{{ end }}
{{ include "fxd.policy" (dict "root" $.root "name" (printf "from-secrets-%s" $.does) "components" (list "secrets") "annotations" $first
    "egress" $egress) }}
{{- end }}
{{- end }}
{{- end }}
