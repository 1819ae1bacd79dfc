/** Values of a series in promtool's notation: `0x20` is 0 for 20 more minutes, `0+5x20` grows by 5 each minute. */
type Course = string

export interface AlertCase {
  readonly alert: string
  /** Series without the namespace, and their values per minute. */
  readonly series: Readonly<Record<string, Course>>
  /** Minute of the evaluation. */
  readonly atMinute: number
  /** Other alerts with the same cause. */
  readonly also?: readonly string[]
  /** Components without pods. */
  readonly without?: readonly string[]
}

const requests = (status: string, course: Course) => ({
  [`fxd_http_request_duration_seconds_count{status="${status}"}`]: course,
})
const histogram = (name: string, edge: string, below: Course, all: Course) => ({
  [`${name}_bucket{le="${edge}"}`]: below,
  [`${name}_count`]: all,
})
const grows = (alert: string, series: string, also?: readonly string[]): AlertCase => ({
  alert,
  series: { [series]: '0x10 5x10' },
  atMinute: 15,
  ...(also && { also }),
})
const is = (alert: string, series: string, value: number, atMinute = 10): AlertCase => ({
  alert,
  series: { [series]: `${value}x30` },
  atMinute,
})

/** For each alert the situation in which it fires. */
export const alertCases: readonly AlertCase[] = [
  {
    alert: 'FxdRestFailing',
    series: { ...requests('200', '0+90x60'), ...requests('500', '0+10x60') },
    atMinute: 60,
    also: ['FxdRestFailingSlowly'],
  },
  {
    alert: 'FxdRestFailingSlowly',
    series: { ...requests('200', '0+980x130'), ...requests('500', '0+20x130') },
    atMinute: 130,
  },
  {
    alert: 'FxdRestSlow',
    series: histogram('fxd_http_request_duration_seconds', '0.2', '0+80x60', '0+100x60'),
    atMinute: 60,
  },
  {
    alert: 'FxdPushSlow',
    series: histogram('fxd_stream_burst_seconds', '0.1', '0+8x60', '0+10x60'),
    atMinute: 60,
  },
  is('FxdTargetDown', 'up{pod="fxd-rest-1",app_kubernetes_io_component="rest"}', 0),
  is('FxdTargetDown', 'up{pod="fxd-questdb-0",app_kubernetes_io_component="questdb"}', 0),
  {
    alert: 'FxdNoIngest',
    series: { 'up{pod="fxd-ingest-1",app_kubernetes_io_component="ingest"}': '0x10' },
    atMinute: 3,
    without: ['ingest'],
  },
  { alert: 'FxdNoIngest', series: {}, atMinute: 3, without: ['ingest'] },
  {
    alert: 'FxdNotServing',
    series: { 'up{pod="fxd-rest-1",app_kubernetes_io_component="rest"}': '0x10' },
    atMinute: 3,
    without: ['rest'],
  },
  { alert: 'FxdNotServing', series: {}, atMinute: 3, without: ['rest'] },
  { alert: 'FxdNotServing', series: {}, atMinute: 3, without: ['stream'] },
  is('FxdEventLoopBlocked', 'fxd_nodejs_eventloop_lag_p99_seconds{pod="fxd-rest-1"}', 0.9),
  is('FxdShardFull', 'fxd_stream_connections{pod="fxd-stream-1"}', 9500),
  grows('FxdConnectionsDropped', 'fxd_http_dropped_connections_total{pod="fxd-rest-1"}'),
  grows('FxdConnectionsDropped', 'fxd_http_cut_connections_total{pod="fxd-rest-1",reason="idle"}'),
  grows('FxdConnectionsDropped', 'fxd_grpc_dropped_connections_total{pod="fxd-ingest-1"}'),
  grows('FxdConnectionsDropped', 'fxd_handle_shortages_total{pod="fxd-rest-1",where="accept"}'),
  grows('FxdFault', 'fxd_stream_faults_total{pod="fxd-stream-1",place="message"}'),
  grows('FxdFault', 'fxd_http_faults_total{pod="fxd-rest-1"}'),
  grows('FxdLogDropped', 'fxd_log_dropped_lines_total{pod="fxd-rest-1"}'),
  is('FxdStoreDegraded', 'fxd_questdb_writes_failing_seconds{pod="fxd-ingest-1"}', 30),
  is('FxdStoreDegraded', 'fxd_registry_age_seconds{pod="fxd-ingest-1"}', 60),
  is('FxdTableSuspended', 'fxd_questdb_suspended_tables{pod="fxd-ingest-1"}', 1),
  {
    alert: 'FxdMemoryMapsShort',
    series: {
      'fxd_questdb_memory_maps_needed{pod="fxd-ingest-1"}': '40000x30',
      'fxd_questdb_memory_maps_limit{pod="fxd-ingest-1"}': '65530x30',
    },
    atMinute: 10,
  },
  ...['data-fxd-questdb-0', 'spool-demo-collector-0'].map((claim) => ({
    alert: 'FxdVolumeFilling',
    series: {
      [`kubelet_volume_stats_available_bytes{persistentvolumeclaim="${claim}"}`]: '20x30',
      [`kubelet_volume_stats_capacity_bytes{persistentvolumeclaim="${claim}"}`]: '100x30',
    },
    atMinute: 15,
  })),
  is('FxdTableOutOfOrder', 'fxd_questdb_tables_out_of_order{pod="fxd-rest-1"}', 1),
  {
    alert: 'FxdStoreSlow',
    series: { 'fxd_questdb_reads_refused_total{pod="fxd-rest-1"}': '0+60x30' },
    atMinute: 20,
  },
  {
    alert: 'FxdStoreSlow',
    series: { 'fxd_http_overloaded_requests_total{pod="fxd-rest-1"}': '0+60x30' },
    atMinute: 20,
  },
  is('FxdStoreUnsafe', 'fxd_questdb_commit_synced{pod="fxd-ingest-1"}', 0),
  is('FxdStoreUnsafe', 'fxd_redis_noeviction{pod="fxd-rest-1"}', 0),
  is('FxdRedisDown', 'fxd_redis_up{pod="fxd-rest-1",connection="calls"}', 0),
  {
    alert: 'FxdRedisMemory',
    series: {
      'fxd_redis_memory_used_bytes{pod="fxd-rest-1"}': '900x30',
      'fxd_redis_memory_max_bytes{pod="fxd-rest-1"}': '1000x30',
    },
    atMinute: 10,
  },
  {
    alert: 'FxdRefusedByShare',
    series: { 'fxd_limits_by_share_total{pod="fxd-rest-1",outcome="refused"}': '0x5 0+20x20' },
    atMinute: 15,
  },
  {
    alert: 'FxdSlotsFailing',
    series: { 'fxd_stream_slot_failures_total{pod="fxd-stream-1",call="open"}': '0+5x30' },
    atMinute: 15,
  },
  {
    alert: 'FxdBackupMissing',
    series: { 'kube_cronjob_status_last_schedule_time{cronjob="fxd-questdb-backup"}': '60x400' },
    atMinute: 400,
  },
  {
    alert: 'FxdBackupMissing',
    series: {
      'kube_cronjob_status_last_schedule_time{cronjob="fxd-questdb-backup"}': '60x10 7200x390',
      'kube_cronjob_status_last_successful_time{cronjob="fxd-questdb-backup"}': '120x400',
    },
    atMinute: 400,
  },
  {
    alert: 'FxdBackupMissing',
    series: { 'kube_cronjob_next_schedule_time{cronjob="fxd-questdb-backup"}': '60x500' },
    atMinute: 450,
  },
  // A suspended CronJob has no next time.
  {
    alert: 'FxdBackupMissing',
    series: {
      'kube_cronjob_status_last_schedule_time{cronjob="fxd-questdb-backup"}': '60x400',
      'kube_cronjob_status_last_successful_time{cronjob="fxd-questdb-backup"}': '120x400',
      'kube_cronjob_spec_suspend{cronjob="fxd-questdb-backup"}': '1x400',
    },
    atMinute: 400,
  },
  is('FxdFeedNotCollected', 'fxd_collector_active{feed="A:B",pod="a-collector-0"}', 0),
  // The collector of a Push feed has ended; two ingests know it.
  {
    alert: 'FxdFeedNotCollected',
    series: {
      'fxd_ingest_active_sessions{feed="A:B",pod="fxd-ingest-1"}': '1x5 0x20',
      'fxd_ingest_active_sessions{feed="A:B",pod="fxd-ingest-2"}': '0x25',
      'fxd_ingest_bar_age_seconds{feed="A:B",pod="fxd-ingest-1"}': '30x5 60+60x20',
      'fxd_ingest_bar_age_seconds{feed="A:B",pod="fxd-ingest-2"}': '30x5 60+60x20',
    },
    atMinute: 10,
  },
  // The same, half an hour later.
  {
    alert: 'FxdFeedNotCollected',
    series: {
      'fxd_ingest_active_sessions{feed="A:B",pod="fxd-ingest-1"}': '0x60',
      'fxd_ingest_bar_age_seconds{feed="A:B",pod="fxd-ingest-1"}': '0+60x60',
      'fxd_ingest_finest_bar_seconds{feed="A:B",pod="fxd-ingest-1"}': '60x60',
    },
    atMinute: 40,
    also: ['FxdFeedStale'],
  },
  is('FxdFeedOffline', 'fxd_ingest_terminal_connected{feed="A:B",pod="fxd-ingest-1"}', 0),
  {
    alert: 'FxdFeedStale',
    // Time 0 was a Thursday.
    series: { 'fxd_collector_tick_age_seconds{feed="A:B",pod="a-collector-0"}': '3600x30' },
    atMinute: 10,
  },
  // The collector of a Push feed is connected and sends no bars.
  {
    alert: 'FxdFeedStale',
    series: {
      'fxd_ingest_active_sessions{feed="A:B",pod="fxd-ingest-1"}': '1x30',
      'fxd_ingest_bar_age_seconds{feed="A:B",pod="fxd-ingest-1"}': '3600x30',
      'fxd_ingest_finest_bar_seconds{feed="A:B",pod="fxd-ingest-1"}': '60x30',
    },
    atMinute: 10,
  },
  is('FxdSpoolGrowing', 'fxd_collector_spool_age_seconds{feed="A:B",pod="a-collector-0"}', 1200),
  is('FxdSpoolGrowing', 'fxd_ingest_spool_age_seconds{feed="A:B",pod="fxd-ingest-1"}', 1200),
  grows('FxdSpoolFailing', 'fxd_collector_spool_failures_total{feed="A:B",pod="a-collector-0"}'),
  grows('FxdSpoolFailing', 'fxd_collector_spool_unreadable_bytes_total{feed="A:B",pod="a-collector-0"}'),
  // The first sample of a new pod already contains the unreadable bytes.
  {
    alert: 'FxdSpoolFailing',
    series: {
      'fxd_collector_spool_unreadable_bytes_total{feed="A:B",pod="a-collector-0"}': '_x10 5x10',
      'fxd_process_start_time_seconds{pod="a-collector-0"}': '_x10 600x10',
    },
    atMinute: 15,
  },
  {
    alert: 'FxdSpoolFailing',
    series: {
      'fxd_collector_spool_unreadable_bytes_total{feed="A:B",pod="a-collector-0"}': '100x20',
      'fxd_collector_spool_unreadable_bytes_total{feed="A:B",pod="a-collector-1"}': '_x10 50x10',
      'fxd_process_start_time_seconds{pod="a-collector-1"}': '_x10 600x10',
    },
    atMinute: 15,
  },
  grows('FxdBarsLost', 'fxd_collector_spool_dropped_bars_total{feed="A:B",pod="a-collector-0"}'),
  // A new pod with a full spool drops bars before its first sample.
  {
    alert: 'FxdBarsLost',
    series: {
      'fxd_collector_spool_dropped_bars_total{feed="A:B",pod="a-collector-0"}': '_x10 5x10',
      'fxd_process_start_time_seconds{pod="a-collector-0"}': '_x10 600x10',
    },
    atMinute: 15,
  },
  grows('FxdIngestAlarm', 'fxd_ingest_alarms_total{kind="unpublished",pod="fxd-ingest-1"}'),
  {
    alert: 'FxdIngestAlarm',
    series: {
      'fxd_ingest_alarms_total{kind="gap",pod="fxd-ingest-1"}': '_x10 5x10',
      'fxd_process_start_time_seconds{pod="fxd-ingest-1"}': '_x10 600x10',
    },
    atMinute: 15,
  },
  grows(
    'FxdWindowsRefused',
    'fxd_ingest_refused_windows_total{reason="too_many_windows",pod="fxd-ingest-1"}',
  ),
  is('FxdBarsNotPushed', 'fxd_ingest_backlog_bars{pod="fxd-ingest-1"}', 20_000),
  grows('FxdBarsNotPushed', 'fxd_ingest_backlog_dropped_bars_total{pod="fxd-ingest-1"}'),
  grows('FxdGaps', 'fxd_stream_gaps_total{pod="fxd-stream-1",cause="lost"}'),
  ...['late', 'failed', 'unproven'].map((reason) =>
    grows('FxdGaps', `fxd_stream_replay_gaps_total{pod="fxd-stream-1",reason="${reason}"}`),
  ),
  grows('FxdGaps', 'fxd_tail_dropped_bars_total{pod="fxd-rest-1"}'),
  grows('FxdDrainForced', 'fxd_stream_drain_forced_closes_total{pod="fxd-stream-1"}'),
  grows('FxdDrainForced', 'fxd_operator_drain_forced_closes_total{pod="fxd-operator-1"}'),
  grows('FxdCanaryMissedBars', 'fxd_canary_missed_bars_total{feed="A:B",pod="fxd-canary-1"}'),
  // The second bound is that of Prometheus 3.
  ...['5', '5.0'].map((bound) => ({
    alert: 'FxdCanarySlow',
    series: {
      [`fxd_canary_arrival_seconds_bucket{feed="A:B",le="${bound}"}`]: '0+8x60',
      'fxd_canary_arrival_seconds_count{feed="A:B"}': '0+10x60',
    },
    atMinute: 60,
  })),
  is('FxdCanaryNotServed', 'fxd_canary_socket_open{pod="fxd-canary-1"}', 0),
  is('FxdCanaryNotServed', 'fxd_canary_rejected_symbols{pod="fxd-canary-1"}', 1),
  is('FxdCanaryNotServed', 'fxd_canary_compared_age_seconds{pod="fxd-canary-1"}', 1200),
  {
    alert: 'FxdOperatorNotLeading',
    series: { 'fxd_operator_leader{pod="fxd-operator-1"}': '0x30' },
    atMinute: 10,
    without: ['operator'],
  },
  { alert: 'FxdOperatorNotLeading', series: {}, atMinute: 10, without: ['operator'] },
  is('FxdOperatorNotSynced', 'fxd_operator_cache_synced{pod="fxd-operator-1",resource="feeds"}', 0),
  is('FxdOperatorRegistryUnreachable', 'fxd_operator_registry_reachable{pod="fxd-operator-0"}', 0),
  {
    alert: 'FxdOperatorFailing',
    series: { 'fxd_operator_reconcile_failures_total{pod="fxd-operator-1",kind="streampools"}': '0+1x40' },
    atMinute: 30,
  },
  is('FxdObjectsNotReady', 'fxd_operator_objects{pod="fxd-operator-1",kind="feeds",ready="False"}', 1, 20),
  is('FxdObjectsNotReady', 'fxd_operator_objects{pod="fxd-operator-1",kind="feeds",ready="Unknown"}', 1, 20),
  is('FxdDeletionHeld', 'fxd_operator_deletions_held{pod="fxd-operator-1",kind="apikeys"}', 12),
]

/** A service without failures: the normal values of each series of the cases. */
export const quiet: Readonly<Record<string, Course>> = {
  'fxd_http_request_duration_seconds_count{status="200"}': '0+1000x200',
  'fxd_http_request_duration_seconds_count{status="500"}': '0+1x200',
  'fxd_http_request_duration_seconds_count{status="429"}': '0+300x200',
  'fxd_http_request_duration_seconds_bucket{le="0.2"}': '0+1280x200',
  'fxd_stream_burst_seconds_bucket{le="0.1"}': '0+99x200',
  fxd_stream_burst_seconds_count: '0+100x200',
  'up{pod="fxd-rest-1",app_kubernetes_io_component="rest"}': '1x200',
  'up{pod="fxd-ingest-1",app_kubernetes_io_component="ingest"}': '1x200',
  'up{pod="fxd-stream-1",app_kubernetes_io_component="stream"}': '1x200',
  'fxd_nodejs_eventloop_lag_p99_seconds{pod="fxd-rest-1"}': '0.02x200',
  'fxd_stream_connections{pod="fxd-stream-1"}': '4000x200',
  'fxd_http_dropped_connections_total{pod="fxd-rest-1"}': '3x200',
  'fxd_stream_faults_total{pod="fxd-stream-1",place="message"}': '1x200',
  // A client that asks for old bars after a weekend, and sockets that close in a rollout.
  'fxd_stream_gaps_total{pod="fxd-stream-1",cause="asked"}': '0+1x200',
  'fxd_stream_gaps_total{pod="fxd-stream-1",cause="closed"}': '0+1x200',
  'fxd_stream_replay_gaps_total{pod="fxd-stream-1",reason="too_many_bars"}': '0+1x200',
  'fxd_questdb_writes_failing_seconds{pod="fxd-ingest-1"}': '0x200',
  'fxd_registry_age_seconds{pod="fxd-ingest-1"}': '2x200',
  'fxd_questdb_suspended_tables{pod="fxd-ingest-1"}': '0x200',
  'fxd_questdb_tables_out_of_order{pod="fxd-ingest-1"}': '0x200',
  'fxd_questdb_commit_synced{pod="fxd-ingest-1"}': '1x200',
  'fxd_redis_noeviction{pod="fxd-rest-1"}': '1x200',
  'fxd_redis_up{pod="fxd-rest-1",connection="calls"}': '1x200',
  'fxd_redis_memory_used_bytes{pod="fxd-rest-1"}': '700x200',
  'fxd_redis_memory_max_bytes{pod="fxd-rest-1"}': '1000x200',
  'kubelet_volume_stats_available_bytes{persistentvolumeclaim="data-fxd-questdb-0"}': '40x200',
  'kubelet_volume_stats_capacity_bytes{persistentvolumeclaim="data-fxd-questdb-0"}': '100x200',
  // The volume of another service.
  'kubelet_volume_stats_available_bytes{persistentvolumeclaim="data-postgres-0"}': '1x200',
  'kubelet_volume_stats_capacity_bytes{persistentvolumeclaim="data-postgres-0"}': '100x200',
  // Lost replies are decided by share.
  'fxd_limits_by_share_total{pod="fxd-rest-1",outcome="admitted"}': '0+1x200',
  'fxd_limits_by_share_total{pod="fxd-rest-1",outcome="refused"}': '4x200',
  // An active collector and a standby.
  'fxd_collector_active{feed="A:B",pod="a-collector-0"}': '1x200',
  'fxd_collector_active{feed="A:B",pod="a-collector-1"}': '0x200',
  'fxd_ingest_terminal_connected{feed="A:B",pod="fxd-ingest-1"}': '1x200',
  'fxd_ingest_active_sessions{feed="A:B",pod="fxd-ingest-1"}': '1x200',
  'fxd_ingest_active_sessions{feed="A:B",pod="fxd-ingest-2"}': '0x200',
  'fxd_ingest_bar_age_seconds{feed="A:B",pod="fxd-ingest-1"}': '50x200',
  // This ingest has not reached the feed board for long.
  'fxd_ingest_bar_age_seconds{feed="A:B",pod="fxd-ingest-2"}': '0+60x200',
  'fxd_ingest_finest_bar_seconds{feed="A:B",pod="fxd-ingest-1"}': '60x200',
  'fxd_ingest_spool_age_seconds{feed="A:B",pod="fxd-ingest-1"}': '1x200',
  // A feed that only imports fill.
  'fxd_ingest_active_sessions{feed="A:IMPORTED",pod="fxd-ingest-1"}': '0x200',
  'fxd_ingest_finest_bar_seconds{feed="A:IMPORTED",pod="fxd-ingest-1"}': '60x200',
  // A Push feed with bars of a day only.
  'fxd_ingest_active_sessions{feed="A:DAILY",pod="fxd-ingest-1"}': '1x200',
  'fxd_ingest_bar_age_seconds{feed="A:DAILY",pod="fxd-ingest-1"}': '7200x200',
  'fxd_ingest_finest_bar_seconds{feed="A:DAILY",pod="fxd-ingest-1"}': '86400x200',
  'fxd_collector_tick_age_seconds{feed="A:B",pod="a-collector-0"}': '12x200',
  'fxd_collector_spool_age_seconds{feed="A:B",pod="a-collector-0"}': '1x200',
  'fxd_ingest_backlog_bars{pod="fxd-ingest-1"}': '40x200',
  'fxd_canary_missed_bars_total{feed="A:B",pod="fxd-canary-1"}': '2x200',
  'fxd_canary_arrival_seconds_bucket{feed="A:B",le="5"}': '0+99x200',
  'fxd_canary_arrival_seconds_count{feed="A:B"}': '0+100x200',
  'fxd_canary_socket_open{pod="fxd-canary-1"}': '1x200',
  'fxd_canary_rejected_symbols{pod="fxd-canary-1"}': '0x200',
  'fxd_canary_compared_age_seconds{pod="fxd-canary-1"}': '40x200',
  'fxd_operator_leader{pod="fxd-operator-1"}': '1x200',
  'fxd_operator_leader{pod="fxd-operator-2"}': '0x200',
  'fxd_operator_cache_synced{pod="fxd-operator-1",resource="feeds"}': '1x200',
  'fxd_operator_registry_reachable{pod="fxd-operator-1"}': '1x200',
  'fxd_operator_registry_reachable{pod="fxd-operator-2"}': '0x200',
  'fxd_operator_objects{pod="fxd-operator-1",kind="feeds",ready="True"}': '3x200',
  'fxd_operator_objects{pod="fxd-operator-1",kind="feeds",ready="False"}': '0x200',
  'fxd_operator_objects{pod="fxd-operator-1",kind="feeds",ready="Unknown"}': '0x200',
  'fxd_operator_objects{pod="fxd-operator-1",kind="apikeys",ready="Ended"}': '2x200',
  'fxd_operator_deletions_held{pod="fxd-operator-1",kind="apikeys"}': '0x200',
}
