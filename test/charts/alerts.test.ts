import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import { ruleTestComplaints } from '../support/promtool.ts'
import { type AlertCase, alertCases, quiet } from './alert-cases.ts'
import { charts, find, part, render } from './render.ts'

interface Rule {
  readonly alert?: string
  readonly expr?: string
  readonly annotations?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
}

let spec: { readonly groups: readonly { readonly rules: readonly Rule[] }[] }
const alerts = (): Rule[] =>
  spec.groups.flatMap(({ rules }) => rules.filter(({ alert }) => alert !== undefined))

beforeAll(() => {
  const objects = render({ values: { monitoring: { rules: { create: 'Always' } } } })
  spec = part(find(objects, 'PrometheusRule', 'fxd'), 'spec')
})

const upOf = (component: string): string =>
  `up{pod="fxd-${component}-0",app_kubernetes_io_component="${component}"}`

/** Pods whose absence raises a separate alert. */
const podsFor = (minutes: number) => ({
  'fxd_operator_leader{pod="fxd-operator-0"}': `1x${minutes}`,
  [upOf('ingest')]: `1x${minutes}`,
  [upOf('rest')]: `1x${minutes}`,
  [upOf('stream')]: `1x${minutes}`,
})
const pods = podsFor(300)

const inNamespace = (series: string, namespace: string): string =>
  series.includes('{')
    ? series.replace('{', `{namespace="${namespace}",`)
    : `${series}{namespace="${namespace}"}`

interface Situation extends Pick<AlertCase, 'series' | 'atMinute'> {
  readonly name: string
  readonly namespace?: string
  /** The alerts that fire, and no others. */
  readonly fires: readonly string[]
}

/** Output of promtool; '' when in each situation exactly its alerts fire. */
function complaints(situations: readonly Situation[], evaluatedEach = '1m'): string {
  const folder = mkdtempSync(join(tmpdir(), 'fxd-rules-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'rules.yaml'), stringify(spec))
  const tests = {
    rule_files: ['rules.yaml'],
    evaluation_interval: evaluatedEach,
    tests: situations.map(({ name, series, atMinute, namespace = 'bars', fires }) => ({
      name,
      interval: '1m',
      input_series: Object.entries(series).map(([each, values]) => ({
        series: inNamespace(each, namespace),
        values,
      })),
      promql_expr_test: [
        {
          expr: 'count by (alertname) (count by (alertname, feed, pod, kind) (ALERTS{alertstate="firing"}))',
          eval_time: `${atMinute}m`,
          exp_samples: fires.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
        },
      ],
    })),
  }
  writeFileSync(join(folder, 'tests.yaml'), stringify(tests, { version: '1.1' }))
  return ruleTestComplaints(join(folder, 'tests.yaml'))
}

test('each alert fires in its situation, without any other', () => {
  const situations = alertCases.map(({ alert, series, atMinute, also = [], without = [] }, i) => ({
    name: `${i}: ${alert}`,
    series: {
      ...Object.fromEntries(
        Object.entries(podsFor(atMinute)).filter(
          ([name]) => !without.some((each) => name.includes(`fxd-${each}-`)),
        ),
      ),
      ...series,
    },
    atMinute,
    fires: [alert, ...also],
  }))
  expect(complaints(situations)).toBe('')
})

test('no alert fires in a quiet service', () => {
  expect(complaints([{ name: 'quiet', series: quiet, atMinute: 180, fires: [] }])).toBe('')
})

test('an old count raises no alert after missed scrapes or in a new Prometheus', () => {
  const counts = [
    'fxd_collector_spool_dropped_bars_total{feed="A:B",pod="a-collector-0"}',
    'fxd_collector_spool_unreadable_bytes_total{feed="A:B",pod="a-collector-0"}',
    'fxd_ingest_alarms_total{kind="gap",pod="fxd-ingest-1"}',
  ]
  const started = ['a-collector-0', 'fxd-ingest-1'].map(
    (pod) => `fxd_process_start_time_seconds{pod="${pod}"}`,
  )
  const series = {
    ...pods,
    ...Object.fromEntries(counts.map((each) => [each, '_x30 5x10 _x10 5x50'])),
    ...Object.fromEntries(started.map((each) => [each, '0x100'])),
  }
  const situations = [31, 35, 52, 60].map((atMinute) => ({
    name: `minute ${atMinute}`,
    series,
    atMinute,
    fires: [],
  }))
  expect(complaints(situations)).toBe('')
})

test('failures in another namespace fire no alert, except those for missing pods in this one', () => {
  const cases = alertCases.map(({ alert, series, atMinute }, i) => ({
    name: `${i}: ${alert}`,
    series,
    atMinute,
    namespace: 'other',
    fires: ['FxdNoIngest', 'FxdNotServing', 'FxdOperatorNotLeading'],
  }))
  expect(complaints(cases)).toBe('')
})

test('few slow and few failed requests of a service with few requests raise no alert', () => {
  const requests = 'fxd_http_request_duration_seconds'
  const series = {
    ...podsFor(180),
    [`${requests}_count{status="200"}`]: '0+1x180',
    [`${requests}_bucket{status="200",le="0.2"}`]: '0+0.8x180',
    [`${requests}_count{status="500"}`]: '0x70 1x30 2x30 3x50',
  }
  expect(complaints([{ name: 'few requests', series, atMinute: 180, fires: [] }])).toBe('')
})

/** Minutes since time 0, which was a Thursday. */
const atHour = (days: number, hour: number): number => (days * 24 + hour) * 60

test('a feed without ticks or bars from Friday 21:00 UTC to Monday is not stale', () => {
  const situations = [
    { name: 'Thursday 23:00', atMinute: atHour(0, 23), fires: ['FxdFeedStale'] },
    { name: 'Friday 20:00', atMinute: atHour(1, 20), fires: ['FxdFeedStale'] },
    { name: 'Friday 21:00', atMinute: atHour(1, 21), fires: [] },
    { name: 'Friday 23:00', atMinute: atHour(1, 23), fires: [] },
    { name: 'Sunday 12:00', atMinute: atHour(3, 12), fires: [] },
    { name: 'Monday 12:00', atMinute: atHour(4, 12), fires: ['FxdFeedStale'] },
  ].map((situation) => ({
    ...situation,
    series: {
      ...podsFor(situation.atMinute),
      'fxd_collector_tick_age_seconds{feed="A:B"}': `3600x${situation.atMinute}`,
      'fxd_ingest_bar_age_seconds{feed="A:B"}': `3600x${situation.atMinute}`,
      'fxd_ingest_finest_bar_seconds{feed="A:B"}': `60x${situation.atMinute}`,
    },
  }))
  expect(complaints(situations, '1h')).toBe('')
})

test('successful backups and failed backups of others raise no alert', () => {
  const [atMinute, daySeconds] = [30 * 60, 24 * 3_600]
  const series = {
    ...podsFor(atMinute),
    'kube_cronjob_status_last_schedule_time{cronjob="fxd-questdb-backup"}': `60x${atMinute}`,
    'kube_cronjob_status_last_successful_time{cronjob="fxd-questdb-backup"}': `300x${atMinute}`,
    'kube_cronjob_next_schedule_time{cronjob="fxd-questdb-backup"}': `${2 * daySeconds}x${atMinute}`,
    'kube_cronjob_status_last_schedule_time{cronjob="reports"}': `60x${atMinute}`,
  }
  expect(complaints([{ name: 'backup', series, atMinute, fires: [] }])).toBe('')
})

test('many failures of the operator that end within minutes raise no alert', () => {
  const series = {
    ...podsFor(40),
    'fxd_operator_reconcile_failures_total{pod="fxd-operator-1",kind="feeds"}': '0x5 20 40 60 80x32',
  }
  const situations = [12, 15, 18, 20].map((atMinute) => ({
    name: `${atMinute}`,
    series,
    atMinute,
    fires: [],
  }))
  expect(complaints(situations)).toBe('')
})

test('promtool reports an alert that does not fire, and one that should not fire', () => {
  const [trouble] = alertCases
  if (trouble === undefined) throw new Error('there are no cases')
  const situation = { name: 'planted', series: { ...pods, ...trouble.series }, atMinute: trouble.atMinute }
  expect(complaints([{ ...situation, fires: [] }])).toContain(trouble.alert)
  expect(complaints([{ ...situation, series: pods, fires: [trouble.alert] }])).toContain(trouble.alert)
})

const runbooks = readdirSync(join(charts, '../docs/runbooks')).map((name) => `docs/runbooks/${name}`)

test('every alert has a case, a severity, a summary and a runbook', () => {
  const names = new Set(alerts().map(({ alert }) => alert))
  expect(new Set(alertCases.map(({ alert }) => alert))).toEqual(names)
  for (const { alert, annotations, labels } of alerts()) {
    expect(['critical', 'warning'], alert).toContain(labels?.['severity'])
    expect(annotations?.['summary'], alert).toBeTruthy()
    expect(runbooks, alert).toContain(annotations?.['runbook'])
    // A relative address is no link.
    expect(annotations, alert).not.toHaveProperty('runbook_url')
  }
})

test('every metric of an alert is in a case', () => {
  const metrics = (text: string): string[] => text.match(/\b(fxd|kube|kubelet)_\w+|\bup\b/g) ?? []
  const tested = new Set(alertCases.flatMap(({ series }) => metrics(Object.keys(series).join(' '))))
  const used = alerts().flatMap(({ expr = '' }) => metrics(expr))
  expect(used.length).toBeGreaterThan(40)
  expect(used.filter((name) => !tested.has(name))).toEqual([])
})

test.for(runbooks)('%s names the alerts that name it, and no others', (path) => {
  const [, line = ''] = /^Alerts?: (.*)$/m.exec(readFileSync(join(charts, '..', path), 'utf8')) ?? []
  const naming = alerts().flatMap(({ alert, annotations }) =>
    annotations?.['runbook'] === path ? [`\`${alert}\``] : [],
  )
  expect(line.replace(/\.$/, '').split(', ').toSorted()).toEqual(naming.toSorted())
})

test('with an address of the runbooks every alert links to its page', () => {
  const rules = { create: 'Always', runbooks: 'https://example.org/books/' }
  const rule = find(render({ values: { monitoring: { rules } } }), 'PrometheusRule', 'fxd')
  const all = part<typeof spec>(rule, 'spec').groups.flatMap((group) => group.rules)
  const linked = all.filter(({ alert }) => alert !== undefined)
  expect(linked.length).toBeGreaterThan(20)
  for (const { annotations } of linked)
    expect(`docs/runbooks/${annotations?.['runbook_url']?.slice('https://example.org/books/'.length)}`).toBe(
      annotations?.['runbook'],
    )
})
