{{/* Environment of QuestDB. */}}
{{- define "fxd.questdbEnv" -}}
{{- $questdb := .Values.questdb -}}
- {name: JAVA_TOOL_OPTIONS, value: {{ printf "-Xmx%s" $questdb.heap | quote }}}
# The only mode without data loss in a power failure.
- {name: QDB_CAIRO_COMMIT_MODE, value: sync}
# An idle reader of a table keeps the files of so many partitions mapped; the default is 10,000.
- {name: QDB_CAIRO_INACTIVE_READER_MAX_OPEN_PARTITIONS, value: "64"}
# More workers than CPUs: each waits for the disk most of the time.
- {name: QDB_SHARED_WORKER_COUNT, value: {{ $questdb.workers | quote }}}
# Idle workers sleep sooner: by default each spins for thousands of turns after its last task.
- {name: QDB_SHARED_WORKER_NAP_THRESHOLD, value: "100"}
- {name: QDB_SHARED_WORKER_SLEEP_THRESHOLD, value: "1000"}
- {name: QDB_WAL_APPLY_WORKER_NAP_THRESHOLD, value: "100"}
# Further connections hang without an error.
- {name: QDB_PG_NET_CONNECTION_LIMIT, value: {{ include "fxd.questdbLimit" . | quote }}}
- {name: QDB_PG_USER, value: {{ $questdb.writer.user | quote }}}
- name: QDB_PG_PASSWORD
  valueFrom:
    secretKeyRef: {name: {{ include "fxd.questdbSecret" (list . "writer") | quote }}, key: {{ $questdb.writer.key | quote }}}
- {name: QDB_HTTP_USER, value: {{ $questdb.writer.user | quote }}}
- name: QDB_HTTP_PASSWORD
  valueFrom:
    secretKeyRef: {name: {{ include "fxd.questdbSecret" (list . "writer") | quote }}, key: {{ $questdb.writer.key | quote }}}
# Probes have no password. Statements still require one.
- {name: QDB_HTTP_HEALTH_CHECK_AUTHENTICATION_REQUIRED, value: "false"}
- {name: QDB_PG_READONLY_USER_ENABLED, value: "true"}
- {name: QDB_PG_READONLY_USER, value: {{ $questdb.reader.user | quote }}}
- name: QDB_PG_READONLY_PASSWORD
  valueFrom:
    secretKeyRef: {name: {{ include "fxd.questdbSecret" (list . "reader") | quote }}, key: {{ $questdb.reader.key | quote }}}
- {name: QDB_LINE_TCP_ENABLED, value: "false"}
- {name: QDB_LINE_AUTO_CREATE_NEW_TABLES, value: "false"}
- {name: QDB_LINE_AUTO_CREATE_NEW_COLUMNS, value: "false"}
- {name: QDB_METRICS_ENABLED, value: "true"}
- {name: QDB_TELEMETRY_ENABLED, value: "false"}
{{- end }}

{{/* Environment of its backup. */}}
{{- define "fxd.backupEnv" -}}
{{- $questdb := .Values.questdb -}}
- {name: QUESTDB, value: "http://{{ include "fxd.questdbHost" . }}:9000"}
- {name: QUESTDB_USER, value: {{ $questdb.writer.user | quote }}}
- name: QUESTDB_PASSWORD
  valueFrom:
    secretKeyRef: {name: {{ include "fxd.questdbSecret" (list . "writer") | quote }}, key: {{ $questdb.writer.key | quote }}}
- {name: DATA, value: /var/lib/questdb}
- {name: BACKUPS, value: /backups}
- {name: KEEP, value: {{ $questdb.backup.keep | quote }}}
{{- end }}
