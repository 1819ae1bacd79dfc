import { execFile, spawn } from 'node:child_process'
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readHistory } from '../acceptance/client/history.ts'
import { issueKey } from '../acceptance/client/keys.ts'
import {
  type RunningService,
  startService,
  withoutServiceVariables,
} from '../acceptance/client/service-process.ts'
import { useTarget } from '../acceptance/client/target.ts'
import { until } from '../acceptance/client/until.ts'

const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../docs/${path}`, import.meta.url)), 'utf8')
const feed = 'EXAMPLE:DEMO'

interface Block {
  /** The words after the opening fence: the language and the purpose. */
  readonly info: string
  readonly text: string
}

interface Example extends Block {
  readonly answer: Block
  /** The requested path, or the whole text. */
  readonly title: string
}

const titleOf = (text: string): string => /localhost:8080([^'\s`]*)/.exec(text)?.[1] ?? text.trim()

const blocks: Block[] = [...read('api.md').matchAll(/^```(.+)\n([\s\S]*?)^```$/gm)].map(
  ([, info = '', text = '']) => ({ info, text }),
)
const isAnswer = (block: Block | undefined): boolean => /^(json|http)/.test(block?.info ?? '')
const examples: readonly Example[] = blocks.flatMap((block, at): Example[] => {
  const answer = blocks[at + 1]
  if (block.info === 'sh key')
    return [{ ...block, title: titleOf(block.text), answer: { info: 'key', text: '' } }]
  return answer !== undefined && isAnswer(answer) && !isAnswer(block)
    ? [{ ...block, title: titleOf(block.text), answer }]
    : []
})

const home = mkdtempSync(join(tmpdir(), 'fxd-api-document-'))
const exported = join(home, 'feeds/exports/GBPUSD_M1.csv')
/** Open times of the bars of GBPUSD in the document: three are stored, two close during the examples. */
const shown = [0, 1, 2, 3, 4].map((minute) => 1_795_176_000 + minute * 60)
/** Open times of these bars in this run, by those of the document. */
const actual = new Map<number, number>()
let service: RunningService
/** The minute in which the service read the folder. Minutes from it on are announced, whether they have bars or not. */
let readMinute = 0
let key = ''

const minuteSeconds = 60
/** The feed's clock is three hours ahead of UTC. */
const runningMinute = (): number => (Math.floor(Date.now() / 60_000) + 180) * minuteSeconds

function appendBar(index: number, time: number): void {
  actual.set(shown[index] ?? 0, time)
  const [date = '', clock = ''] = new Date(time * 1_000).toISOString().replaceAll('-', '.').split('T')
  const open = 1.31 + index / 10_000
  const prices = [open, open + 0.0001, open - 0.0001, open + 0.00005].map((price) => price.toFixed(5))
  appendFileSync(exported, `${[date, clock.slice(0, 8), ...prices, 100 + index, 0, 0].join('\t')}\r\n`)
}

beforeAll(async () => {
  cpSync(fileURLToPath(new URL('../../docs/examples/feeds', import.meta.url)), join(home, 'feeds'), {
    recursive: true,
  })
  writeFileSync(exported, '<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>\r\n')
  const begin = runningMinute() - 10 * minuteSeconds
  for (const index of [0, 1, 2]) appendBar(index, begin + index * minuteSeconds)
  await until('30 s of the minute to be left', () => Date.now() % 60_000 < 30_000, 40_000)
  service = await startService(home, { store: 'embedded' })
  useTarget(service.target)
  const own = (await issueKey({ feeds: [feed] })).key
  for (const [series, count] of [
    ['EURUSD:1', 4],
    ['EURUSD:60', 3],
    ['EURUSD:1D', 4],
    ['GBPUSD:1', 3],
  ] as const) {
    const [symbol, resolution = ''] = series.split(':')
    const wanted = { symbol: `${feed}:${symbol}`, resolution, countback: 10 }
    await until(`the bars of ${series}`, async () => (await readHistory(own, wanted)).t?.length === count)
  }
  readMinute = runningMinute()
}, 120_000)
afterAll(async () => {
  await service.stop()
  rmSync(home, { recursive: true })
})

/** The text of the document with the addresses, times and command line of this run. */
const forThisRun = (text: string): string =>
  shown
    .reduce((whole, time) => whole.replaceAll(String(time), String(actual.get(time) ?? time)), text)
    .replaceAll('localhost:8080', new URL(service.target.url).host)
    .replaceAll('npm run -s fxd -- keys', service.target.issuer)

/** Numbers and names that differ from run to run. */
const volatile = ['server_time', 'session_id', 'api_key', 'date', 'last_candle_age_seconds', 'until']
const masked = (text: string): unknown =>
  JSON.parse(text, (name, value: unknown) => {
    const isTime = typeof value === 'number' && (name === 't' || name === `${feed}:EURUSD`)
    return volatile.includes(name) || isTime ? 'differs' : value
  })
const maskedLines = (text: string): string[] =>
  text
    .trim()
    .split(/\r?\n/)
    .map((line) =>
      line
        .replace(/^((X-Request-Id|X-RateLimit-(Remaining|Reset)-\w+|Retry-After): )\w+$/, '$1…')
        .replace(/\d+ seconds/, '… seconds'),
    )

async function runShell(text: string): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', ['-c', forThisRun(text)], {
    env: { ...withoutServiceVariables(process.env), KEY: key },
  })
  return stdout
}

/** Runs a script to its end and closes a bar after it subscribed; returns the lines that it printed. */
async function runScript(text: string): Promise<string[]> {
  const file = join(home, 'example.mjs')
  writeFileSync(file, forThisRun(text))
  const child = spawn(process.execPath, [file], {
    env: { ...withoutServiceVariables(process.env), KEY: key },
  })
  const lines: string[] = []
  for await (const line of createInterface(child.stdout)) {
    lines.push(line)
    if (!line.includes('"subscribed"') || !text.includes('GBPUSD')) continue
    if (actual.has(shown[4] ?? 0)) continue
    const isNext = actual.has(shown[3] ?? 0)
    // The second bar may be in the file before its minute ends.
    if (isNext) appendBar(4, readMinute)
    else appendBar(3, (actual.get(shown[2] ?? 0) ?? 0) + minuteSeconds)
  }
  return lines
}

test('these tests run every example of docs/api.md and compare every answer', () => {
  const untested = blocks.filter(
    (block) => !isAnswer(block) && !examples.some(({ text }) => text === block.text),
  )
  expect(untested.map(({ text }) => text)).toEqual([
    'FXD_FEEDS=docs/examples/feeds make run\n',
    'export KEY=fxd_…\n',
  ])
  const answers = examples.filter(({ info }) => info !== 'sh key')
  expect(answers.length).toBe(blocks.filter(isAnswer).length)
  expect(answers.length).toBeGreaterThan(15)
})

test.for(examples)(
  'docs/api.md shows the answer of $title',
  { timeout: 150_000 },
  async ({ info, text, answer }) => {
    if (info === 'sh key') {
      key = /fxd_[0-9a-f]{32}/.exec(await runShell(text))?.[0] ?? ''
      expect(key).not.toBe('')
    } else if (info === 'js') {
      const lines = (await runScript(text)).map(masked)
      expect(lines).toEqual(forThisRun(answer.text).trim().split('\n').map(masked))
    } else if (answer.info === 'http') {
      expect(maskedLines(await runShell(text))).toEqual(expect.arrayContaining(maskedLines(answer.text)))
    } else expect(masked(await runShell(text))).toEqual(masked(forThisRun(answer.text)))
  },
)
