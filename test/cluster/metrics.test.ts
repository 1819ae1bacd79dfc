import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, inject, onTestFinished, test } from 'vitest'
import { exportText, minutes } from '../acceptance/client/bars.ts'
import { ask } from '../acceptance/client/http.ts'
import { importFile } from '../acceptance/client/input.ts'
import { closeSockets, connect } from '../acceptance/client/socket.ts'
import { promtoolComplaints } from '../support/promtool.ts'
import { issueForAllPods } from './pods.ts'

const charts = join(import.meta.dirname, '../../charts')

afterEach(closeSockets)

const exposition = async (opsPort: number): Promise<string> =>
  (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text()

test('promtool accepts the metrics of every role', async () => {
  const pods = inject('pods')
  expect(new Set(pods.map(({ role }) => role))).toEqual(new Set(['ingest', 'rest', 'stream', 'collector']))
  for (const { name, opsPort } of pods) {
    const text = await exposition(opsPort)
    expect(text, name).toContain('fxd_')
    expect(promtoolComplaints(text), name).toBe('')
  }
})

test('promtool complains about a counter without the suffix _total', () => {
  expect(promtoolComplaints('# TYPE a counter\na 1\n')).toContain('a')
})

/** Metrics of the operator and the canary; this cluster runs neither, tests on Kubernetes check them. */
const isTestedOnKubernetes = /^fxd_(operator|canary)_/

test('each counter that an alert watches for an increase is exported as 0 from the start', async () => {
  const rules = readFileSync(join(charts, 'fxd/files/alerts.yaml'), 'utf8')
  const counters = [...rules.matchAll(/\b(fxd_[a-z_]+_total)\{/g)].flatMap(([, name = '']) => name)
  const wanted = [...new Set(counters)].filter((name) => !isTestedOnKubernetes.test(name))
  expect(wanted.length).toBeGreaterThan(10)
  const texts = await Promise.all(inject('pods').map(({ opsPort }) => exposition(opsPort)))
  const shown = texts.join('\n')
  expect(wanted.filter((name) => !new RegExp(`^${name}(\\{| )`, 'm').test(shown))).toEqual([])
})

const isLabel = /(\w+)="((?:[^"\\]|\\.)*)"/g

/** The values of each label of each metric, over all pods of a role. */
async function labels(): Promise<Map<string, Set<string>>> {
  const found = new Map<string, Set<string>>()
  for (const { role, opsPort } of inject('pods')) {
    for (const line of (await exposition(opsPort)).split('\n')) {
      const [, metric, pairs = ''] = /^(\w+)(\{.*\})? \S+$/.exec(line) ?? []
      for (const [, label, value = ''] of pairs.matchAll(isLabel)) {
        const key = `${role} ${metric} ${label}`
        found.set(key, (found.get(key) ?? new Set()).add(value))
      }
    }
  }
  return found
}

const folder = mkdtempSync(join(tmpdir(), 'fxd-metrics-'))
/** Creates a symbol and a key, and uses them for every request that the service counts. */
async function useNewSymbol(n: number): Promise<void> {
  const symbol = `NEW${n}`
  const file = join(folder, `${symbol}.csv`)
  writeFileSync(file, exportText(minutes(Date.UTC(2020, 0, 2) / 1000, 5, 1.1, 5)))
  const feed = 'BROKERA:ZERO'
  const imported = await importFile(file, { feed, symbol, resolution: '1', more: ['--type', 'forex'] })
  expect(imported.code, imported.stderr).toBe(0)
  const { key } = await issueForAllPods({ feeds: [feed], plan: 'basic', rpd: 8 })
  const name = `${feed}:${symbol}`
  for (const path of [
    `/v1/history?symbol=${name}&resolution=1&countback=3`,
    `/v1/symbols?symbol=${name}`,
    `/v1/coverage?symbol=${name}`,
    `/v1/coverage?symbol=${name}-unknown`,
    `/v1/history?symbol=BROKERB:LIVE:${symbol}&resolution=1&countback=3`,
    `/v1/symbols?limit=${n}x`,
    `/v1/${symbol}`,
    '/v1/usage',
    '/v1/status',
    '/v1/status',
    '/v1/status',
  ])
    await ask(path, { key })
  const socket = await connect(key)
  await socket.subscribe([name])
  await socket.close()
}

test('more keys and more symbols add no label values to any metric', { timeout: 180_000 }, async () => {
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const n of [1, 2]) await useNewSymbol(n)
  const few = await labels()
  // Suites that run at the same time also add values, but from limited lists.
  const added = 8
  for (let n = 3; n < 3 + added; n++) await useNewSymbol(n)
  const many = await labels()
  const grown = [...many].flatMap(([name, values]) => {
    const fresh = [...values].filter((each) => !few.get(name)?.has(each))
    return fresh.length >= added ? [`${name}: ${fresh.join(' ')}`] : []
  })
  expect(grown).toEqual([])
  expect([...many.values()].flatMap((values) => [...values]).join('\n')).not.toMatch(/NEW\d|fxd_[0-9a-f]{5}/)
  expect([...many.keys()].some((name) => name.endsWith(' route'))).toBe(true)
})
