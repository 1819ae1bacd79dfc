import { expect, test } from 'vitest'
import { lasting, misbehave } from './double/misbehaviours.ts'
import type { TerminalDouble } from './double/terminal-double.ts'
import { TerminalSuite } from './double/terminal-suite.ts'

const suite = new TerminalSuite()
const raw = 'EURUSD.z'
const other = 'GBPUSD.z'
const { patience } = suite

/** Runs a terminal with a misbehaviour until it is calm. Returns it, and the end of its last closed minute. */
async function run(name: keyof typeof lasting): Promise<[TerminalDouble, number]> {
  const terminal = await suite.begin()
  const met = misbehave(terminal, lasting[name])
  const end = await suite.calm(terminal)
  expect(met()).toBeGreaterThan(0)
  return [terminal, end]
}

/** History of these symbols before `end` becomes what the terminal could give. */
async function expectWhole(terminal: TerminalDouble, end: number, ...raws: readonly string[]): Promise<void> {
  for (const each of raws)
    await expect.poll(() => suite.differences(terminal, each, end), patience).toEqual([])
}

async function expectBars(terminal: TerminalDouble, end: number, of: string): Promise<void> {
  await expect.poll(() => suite.differentBars(terminal, of, end), patience).toEqual([])
}

/** Start of the minute in which a symbol appeared or vanished. */
const minuteOf = (times: ReadonlyMap<string, number>, of: string): number => {
  const time = times.get(of) ?? 0
  return time - (time % 60)
}

test('a series never synchronizes: it has no coverage, and that of the other symbols goes on', async () => {
  const [terminal, end] = await run('seriesNeverSynchronizes')
  await expectWhole(terminal, end, raw)
  expect([await suite.collectors.stored('GBPUSD'), await suite.covered(other, end)]).toEqual([[], []])
})

test('a symbol appears late: it is whole from its first bar on', async () => {
  const [terminal, end] = await run('symbolAppearsLate')
  await expectWhole(terminal, end, raw)
  await expectBars(terminal, end, other)
  const [[from, to] = [0, 0] as const, ...more] = await suite.covered(other, end)
  expect([to, more]).toEqual([end, []])
  // The terminal also answers that the minute before its first bar has none.
  expect(minuteOf(terminal.since, other) - (from - (from % 60))).toBeOneOf([0, 60])
})

test('a symbol vanishes: its closed bars stay, and the other symbols go on', async () => {
  const [terminal, end] = await run('symbolVanishes')
  await expectWhole(terminal, end, raw)
  await expectBars(terminal, minuteOf(terminal.until, other), other)
})

test('a symbol is renamed: the bars of both names are stored', async () => {
  const [terminal, end] = await run('symbolIsRenamed')
  await expectWhole(terminal, end, raw)
  await expectBars(terminal, end, 'GBPUSD2.z')
  await expectBars(terminal, minuteOf(terminal.until, other), other)
})

test('Max bars in chart is small: coverage begins with the oldest bar that the terminal had', async () => {
  const [terminal, end] = await run('maxBarsIsSmall')
  const ends = async () => (await suite.covered(raw, end)).map(([, to]) => to)
  await expect.poll(ends, patience).toEqual([end])
  const [[oldest] = [0]] = await suite.covered(raw, end)
  // 100 bars before the first answer, which comes in the first minutes.
  expect(oldest - (suite.begunAt - 99 * 60)).toBeLessThanOrEqual(120)
  expect(await suite.differentBars(terminal, raw, end, oldest)).toEqual([])
})

test('history is re-adjusted: the next comparison of an old day reads all of it again', async () => {
  const days = suite.since(3 * 86_400)
  const { clock } = suite.collectors
  // It changes half a minute before midnight, and each series is compared once a day.
  await clock.advance(86_400_000 - (clock.utcMs() % 86_400_000) - 330_000)
  const [terminal, end] = await run('historyIsReadjusted')
  expect(terminal.halvedBefore).toBeGreaterThan(days)
  await expectWhole(terminal, end, raw)
})
