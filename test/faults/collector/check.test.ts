import { execFileSync, spawn } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, type TestContext, test } from 'vitest'
import { run } from '../../../services/cli/run.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { type Finding, runCollectorCheck } from '../../../services/roles/collector-check.ts'
import { python } from '../../interop/foreign-process.ts'
import { killWithParent } from '../../support/processes/kill-with-parent.ts'

const at = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url))
const example = readFileSync(at('docs/examples/collector.py'), 'utf8')
const feed = 'MYBROKER:LIVE'
const manifest = `apiVersion: marketdata.fxd.dev/v1alpha1
kind: Feed
metadata: { name: mybroker-live }
spec:
  broker: MYBROKER
  account: LIVE
  clock: { mode: UTC }
  quoteBasis: Bid
  resolutions: ["1", "30"]
  symbols: { suffixes: [.z], list: [{ raw: EURUSD.z, type: forex, digits: 5 }] }
  source: { type: Push }
`
const symbols = ['EURUSD.z', 'GBPUSD.z'] as const
const historyMinutes = 14_000
const minutesAgo = 40_000
const stepMs = 250
const noTls = { tlsCert: undefined, tlsKey: undefined, tlsCa: undefined }

/** Python classes of the protocol, made once. */
const classes = mkdtempSync(join(tmpdir(), 'fxd-check-classes-'))
const out = [`--python_out=${classes}`, `--grpc_python_out=${classes}`]
execFileSync(python(), [
  '-m',
  'grpc_tools.protoc',
  `-I${at('proto')}`,
  ...out,
  at('proto/fxd/v1/collector.proto'),
])
afterAll(() => rmSync(classes, { recursive: true }))

/** A folder with the manifest, a file of bars that grows, and the collector, which may have a defect. */
class Author {
  readonly folder = mkdtempSync(join(tmpdir(), 'fxd-check-'))
  readonly feeds = join(this.folder, 'feed.yaml')
  readonly #bars = join(this.folder, 'bars.csv')
  readonly #onTestFinished: TestContext['onTestFinished']
  readonly #first = (Math.floor(Date.now() / 60_000) - minutesAgo) * 60
  #minutes = 0

  constructor(program: string, onTestFinished: TestContext['onTestFinished'], minutesAtOnce = 1) {
    onTestFinished(() => rmSync(this.folder, { recursive: true }))
    this.#onTestFinished = onTestFinished
    writeFileSync(this.feeds, manifest)
    writeFileSync(join(this.folder, 'collector.py'), program)
    writeFileSync(this.#bars, '')
    this.#append(historyMinutes)
    const growing = setInterval(() => this.#append(minutesAtOnce), stepMs)
    onTestFinished(() => clearInterval(growing))
  }

  start(address: string, tokenFile: string): void {
    const args = [
      join(this.folder, 'collector.py'),
      address,
      feed,
      tokenFile,
      symbols.map((each) => `${each}=5`).join(','),
      this.#bars,
    ]
    const child = spawn(python(), args, { env: { ...process.env, PYTHONPATH: classes }, stdio: 'ignore' })
    this.#onTestFinished(() => void child.kill('SIGKILL'))
    killWithParent(child)
  }

  #append(count: number): void {
    const last = this.#minutes + count
    let text = ''
    for (; this.#minutes < last; this.#minutes++)
      for (const symbol of symbols)
        text += `${symbol},${this.#first + this.#minutes * 60},1.1,1.3,1.05,${(1.1 + (this.#minutes % 10_000) / 100_000).toFixed(5)},${this.#minutes}\n`
    appendFileSync(this.#bars, text)
  }
}

test.concurrent('"fxd collector check" judges every rule of the example, finds nothing wrong, and exits with 0', async ({
  expect,
  onTestFinished,
}) => {
  const author = new Author(example, onTestFinished)
  let [printed, told] = ['', '']
  const code = await run(['collector', 'check', '127.0.0.1:0', '--json'], {
    environment: { FXD_FEEDS: author.feeds },
    clock: systemClock,
    watched: false,
    folder: author.folder,
    input: () => process.stdin,
    out: (text) => void (printed += text),
    err: (text) => {
      told += text
      const ready = /^FXD_INGEST=(.*)\nFXD_TOKEN_FILE=(.*)\n$/.exec(text)
      if (ready) author.start(ready[1] ?? '', ready[2] ?? '')
    },
  })
  const judged = (JSON.parse(printed) as Finding[]).map(({ rule, state }) => ({ rule, state }))
  expect({ code, others: judged.filter(({ state }) => state !== 'ok'), told }).toMatchObject({
    code: 0,
    others: [],
  })
  expect(judged.length).toBeGreaterThan(15)
})

interface Defect {
  readonly title: string
  /** Texts of the example, and what stands there instead. */
  readonly patch: readonly (readonly [from: string, to: string])[]
  readonly rule: Finding['rule']
  readonly minutesAtOnce?: number
}

const defects: readonly Defect[] = [
  {
    title: 'sends bars again with a new revision',
    patch: [['series.revision[0] = min(series.revision[0], now)', 'series.revision[0] = now']],
    rule: 'resend',
  },
  {
    title: 'forgets bars without an Ack when its connection is lost',
    patch: [
      [
        '        for message, windows in reversed(self.sent.values()):',
        '        for message, windows in []:',
      ],
    ],
    rule: 'resend',
  },
  {
    title: 'sends bars again in another order',
    patch: [['reversed(self.sent.values())', 'list(self.sent.values())']],
    rule: 'resend',
  },
  {
    title: 'sends the bar that is still forming',
    patch: [
      [
        'int(volume), self.revision])',
        'int(volume), self.revision])\n                if self.lane == pb.LANE_LIVE:\n                    series[raw].append([int(time.time()) // 60 * 60, *units, int(volume), self.revision])',
      ],
    ],
    rule: 'closed',
  },
  {
    title: 'ignores Slow',
    patch: [['self.paused_until = time.monotonic() + message.slow.pause_ms / 1_000', 'pass']],
    rule: 'slow',
  },
  { title: 'skips a sequence', patch: [['itertools.count(1)', 'itertools.count(1, 2)']], rule: 'sequence' },
  {
    title: 'uses a sequence twice with different messages',
    patch: [['.sequence = sequence', '.sequence = min(sequence, 3)']],
    rule: 'sequence',
  },
  {
    title: 'claims a window before the Acks of its bars',
    patch: [
      [
        'message, windows = queue.popleft()',
        'message, windows = queue.popleft()\n            self.claims.extend((window, []) for window in windows)\n            windows = []',
      ],
    ],
    rule: 'windows',
  },
  {
    title: 'sends one heartbeat only',
    patch: [['await asyncio.sleep(5)', 'await asyncio.sleep(3600)']],
    rule: 'heartbeats',
  },
  {
    title: 'makes revisions by its own clock',
    patch: [['welcome.utc_ms - time.time_ns() // 1_000_000', '0']],
    rule: 'revisions',
  },
  {
    title: 'sends no Catalogue after a reconnect',
    patch: [
      [
        '        await call.write(pb.CollectorMessage(\n            catalogue=',
        '        is_first = not hasattr(self, "names")\n        if is_first:\n          await call.write(pb.CollectorMessage(\n            catalogue=',
      ],
      ['        self.names = {}\n        while True:', '          self.names = {}\n        while is_first:'],
    ],
    rule: 'catalogue',
  },
  {
    title: 'sends raw names',
    patch: [['(name.symbol, name.digits', '(name.raw, name.digits']],
    rule: 'names',
  },
  {
    title: 'sends a live bar before an earlier one',
    patch: [
      [
        'self.waiting.append((message, [pb.CollectorMessage(window=window) for window in windows]))',
        'self.pair = [(message, [])] + getattr(self, "pair", [])\n            if self.lane == pb.LANE_BACKFILL or len(self.pair) == 2:\n                self.waiting.extend(self.pair)\n                self.pair = []',
      ],
    ],
    rule: 'order',
  },
  {
    title: 'exceeds unacked_bars_max',
    patch: [['<= self.unacked_bars else None', '<= 10**9 else None']],
    rule: 'bounds',
    minutesAtOnce: 500,
  },
  {
    title: 'sends history without regard to Acks',
    patch: [['UNACKED_MAX = 8', 'UNACKED_MAX = 100']],
    rule: 'bounds',
  },
  {
    title: 'ends when its connection is lost',
    patch: [['            failures = min(failures + 1, 6)', '            return']],
    rule: 'reconnect',
  },
  {
    title: 'connects again without a pause',
    patch: [['random.uniform(0, 0.25 * 2**failures)', '0']],
    rule: 'reconnect',
  },
  {
    title: 'sends all history again after a reconnect',
    patch: [
      [
        '        if self.stored is None:',
        '        self.bars.seek(0)\n        self.lane, self.claimed, self.stored = pb.LANE_BACKFILL, {}, []\n        if self.stored is None:',
      ],
    ],
    rule: 'known',
  },
  {
    title: 'uses digits of its own in place of those of Catalogued',
    patch: [['name.digits + welcome.mid_quoted', '6']],
    rule: 'bars',
  },
  {
    title: 'sends more than 5,000 bars in a message',
    patch: [['LINES_MAX = 2_000', 'LINES_MAX = 6_000']],
    rule: 'bars',
  },
  {
    title: 'waits with live bars for Acks',
    patch: [['sum(live) + bars_in(self.waiting[0][0]) <= self.unacked_bars', 'len(live) < 4']],
    rule: 'live',
  },
  {
    title: 'has another collector_id in each session',
    patch: [['{os.getpid()}', '{random.random()}']],
    rule: 'hello',
  },
  {
    title: 'goes on after a revision was refused',
    patch: [['raise ConnectionError("a clock was set;', 'print("a clock was set;']],
    rule: 'clockSet',
  },
]

test.concurrent.for(defects)(
  '"fxd collector check" finds that a collector $title',
  async ({ patch, rule, minutesAtOnce }, { expect, onTestFinished }) => {
    const program = patch.reduce((text, [from, to]) => {
      expect(text.split(from), `the example has ${from} once`).toHaveLength(2)
      return text.replace(from, () => to)
    }, example)
    const author = new Author(program, onTestFinished, minutesAtOnce)
    const ending = new AbortController()
    const told: string[] = []
    const findings = await runCollectorCheck(
      { ...noTls, feeds: author.feeds },
      {
        host: '127.0.0.1',
        port: 0,
        clock: systemClock,
        ending: ending.signal,
        say: (what) => void told.push(what),
        onWrong(found, sentence) {
          told.push(`${found}: ${sentence}`)
          if (found === rule) ending.abort()
        },
        onReady: ({ port, tokenFile }) => author.start(`127.0.0.1:${port}`, tokenFile),
      },
    )
    const wrong = findings.filter(({ state }) => state === 'wrong').map((each) => each.rule)
    expect(wrong, told.join('\n')).toContain(rule)
  },
)
