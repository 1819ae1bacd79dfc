import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createCollectorMetrics } from '../../services/collector/metrics.ts'
import { createMetrics } from '../../services/platform/metrics.ts'
import { chart, charts } from './render.ts'

const root = join(charts, '..')

/** Metric names that are literals in the code. */
function namesInCode(): string[] {
  return ['services', 'operator'].flatMap((part) =>
    readdirSync(join(root, part), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
      .flatMap((path) => [...readFileSync(join(root, part, path), 'utf8').matchAll(/'(fxd_[a-z0-9_]+)'/g)])
      .flatMap(([, name]) => name ?? []),
  )
}

/** Metric names of the process and of a collector that the code composes. */
async function namesOfProcess(): Promise<string[]> {
  const metrics = createMetrics({ ofProcess: true })
  createCollectorMetrics(metrics)
  const { text } = await metrics.render()
  return [...text.matchAll(/^# TYPE (\S+)/gm)].flatMap(([, name]) => name ?? [])
}

/** The name of a metric without the suffixes of a histogram's series. */
const withoutPart = (name: string): string => name.replace(/_(bucket|count|sum)$/, '')

const named = [
  ['the alerts', ['charts/fxd/files/alerts.yaml']],
  ['the dashboard', ['charts/fxd/files/dashboard.json']],
  ['the runbooks', readdirSync(join(root, 'docs/runbooks')).map((name) => `docs/runbooks/${name}`)],
] as const

test.for(named)('every metric in %s exists', async ([, files]) => {
  const known = new Set([...namesInCode(), ...(await namesOfProcess())])
  const used = files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/\bfxd_[a-z0-9_]+/g)]
      .map(([name]) => name)
      // Users and tables of QuestDB have this prefix, too.
      .filter((name) => !/^fxd_(writer|reader)?$/.test(name)),
  )
  expect([...new Set(used)].filter((name) => !known.has(name) && !known.has(withoutPart(name)))).toEqual([])
  expect(used.length).toBeGreaterThan(0)
})

test('every panel of the dashboard and every alert selects its namespace', () => {
  for (const file of ['files/alerts.yaml', 'files/dashboard.json']) {
    const text = readFileSync(join(chart, file), 'utf8')
    const queries = text.replaceAll(/label_values\(.*?\)/g, '')
    const selectors = [...queries.matchAll(/\bfxd_[a-z0-9_]+(\{[^}]*\})?/g)]
    expect(selectors.length).toBeGreaterThan(20)
    for (const [all, selector = ''] of selectors) expect(selector, all).toMatch(/namespace|SCOPE/)
  }
})
