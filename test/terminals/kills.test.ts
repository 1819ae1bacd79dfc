import { expect, test } from 'vitest'
import type { TerminalDouble } from './double/terminal-double.ts'
import { TerminalSuite } from './double/terminal-suite.ts'

const suite = new TerminalSuite()
const { patience } = suite
const raw = 'EURUSD.z'

async function expectWhole(terminal: TerminalDouble, raws = [raw]): Promise<number> {
  const end = await suite.calm(terminal)
  for (const each of raws) {
    await expect.poll(() => suite.differences(terminal, each, end), patience).toEqual([])
  }
  return end
}

test.for([
  ['the collector', () => suite.killCollector(() => 0.5)],
  ['ingest', () => suite.killIngest()],
] as const)(
  '%s is killed once a minute: every closed bar is stored once, with its last value',
  async ([, kill]) => {
    const terminal = await suite.begin()
    for (let i = 0; i < 3; i++) {
      await suite.minutesPass(terminal, 1)
      await kill()
    }
    await expectWhole(terminal)
  },
)

test('a terminal is killed once a minute: every closed bar is stored once, with its last value', async () => {
  const terminal = await suite.begin()
  for (let i = 0; i < 3; i++) {
    await suite.minutesPass(terminal, 1)
    await terminal.restart()
  }
  await expectWhole(terminal)
})

test('a second terminal has the same token and account: they take turns, and no bar is lost or doubled', async () => {
  const first = await suite.begin()
  await suite.minutesPass(first, 1)
  const second = await suite.begin()
  await suite.minutesPass(first, 3)
  const said = [first, second].map(({ printed }) => printed.filter((line) => line.includes('took over')))
  for (const sentences of said) expect(sentences.length).toBeGreaterThan(0)
  await second.stop()
  await expectWhole(first)
})

test('1,622 symbols tick in the same second of each minute: the bars of each are whole', async () => {
  const since = suite.since(600)
  const terminal = await suite.begin()
  terminal.first = since
  terminal.symbols = Array.from({ length: 1_622 }, (_, i) => `S${i}.z`)
  terminal.isCalm = true
  // To read the coverage of each one would take longer than all the rest.
  const end = await expectWhole(
    terminal,
    terminal.symbols.filter((_, i) => i % 100 === 0),
  )
  for (const each of terminal.symbols) expect(await suite.differentBars(terminal, each, end)).toEqual([])
}, 120_000)
