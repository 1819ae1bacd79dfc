import { expect, test } from 'vitest'
import { onlyEurusd, openTerminalSource } from '../../../../test/support/fixtures/terminal-source-fixture.ts'
import { createVirtualClock } from '../../../../test/support/fixtures/virtual-clock.ts'
import { terminalHello } from '../../../../test/support/samples/posting-terminal.ts'
import { toList } from '../../../core/bars/bar.ts'
import { feedSeconds } from '../../../core/clocks/feed-clock.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'
import type { TerminalBar, TerminalLine } from '../../../core/terminal/lines.ts'
import type { SourceAnswer } from '../../source.ts'

const noon = Date.UTC(2026, 0, 5, 12) / 1_000
const at = (minutes: number) => feedSeconds(noon + minutes * 60)
const never = new AbortController().signal

/** A bar whose prices are its minute, so that it shows from which bars another was folded. */
const bar = (minutes: number): TerminalBar => ({
  time: at(minutes),
  open: `${100 + minutes}`,
  high: `${100 + minutes + 2}`,
  low: `${100 - minutes}`,
  close: `${100 + minutes + 1}`,
  volume: 10,
})

const group = (bars: readonly TerminalBar[], lastIsOpen = false): TerminalLine => ({
  line: 'bars',
  series: { raw: 'EURUSD', resolution: '5' },
  bars,
  lastIsOpen,
})

/** A terminal of this kind, whose feed has 5 and 10; the sweep of its series begins at `from`. */
async function begin(kind: 'MT4' | 'MT5', from: number, resolutions: readonly Resolution[] = ['5', '10']) {
  const clock = createVirtualClock({ start: (noon + 7 * 60) * 1_000 })
  const closed: [Resolution, number, number[]][] = []
  const watched: [Resolution, number][] = []
  const { source, post } = await openTerminalSource(clock, resolutions, {
    reportFrom: () => at(from),
    closed(batch) {
      for (const { resolution, bars, derived } of batch)
        for (const { time, open, high, low, close, volume } of toList(bars))
          closed.push([resolution, (time - noon) / 60, derived ? [open, high, low, close, volume] : []])
      return { spooled: Promise.resolve() }
    },
    watched: (resolution, { to }) => void watched.push([resolution, (to - noon) / 60]),
  })
  await source.begin(1, { ...terminalHello, kind })
  const told = await post(...onlyEurusd)
  return { source, post, told, closed, watched }
}

test('MetaTrader 5 is told to sweep both, and MetaTrader 4 only what it has, from the open of a longer bar', async () => {
  const tellings = async (kind: 'MT4' | 'MT5') =>
    (await begin(kind, 5)).told.flatMap((line) =>
      line.line === 'newest' ? [[line.series.resolution, ((line.time ?? 0) - noon) / 60]] : [],
    )
  expect(await tellings('MT5')).toEqual([
    ['5', 5],
    ['10', 5],
  ])
  expect(await tellings('MT4')).toEqual([['5', 0]])
})

test('a longer bar of MetaTrader 4 is folded from the finer ones, and is reported once it has closed', async () => {
  const { post, closed } = await begin('MT4', 0)
  await post(group([bar(0)], true))
  await post(group([bar(0), bar(5)], true))
  expect(closed).toEqual([['5', 0, []]])
  await post(group([bar(5), bar(10)], true))
  expect(closed.slice(1)).toEqual([
    ['5', 5, []],
    ['10', 0, [100, 107, 95, 106, 20]],
  ])
})

test('a tick at the end of the longer bar closes it too', async () => {
  const { post, closed } = await begin('MT4', 0)
  await post(group([bar(0), bar(5)], true), { line: 'tick', time: at(10), raw: 'EURUSD' })
  expect(closed.map(([resolution, minutes]) => [resolution, minutes])).toEqual([
    ['5', 0],
    ['5', 5],
    ['10', 0],
  ])
})

test('a sweep of the finer bars is one of the longer bars', async () => {
  const { post, watched } = await begin('MT4', 0)
  await post(group([bar(10), bar(15)], true), { line: 'tick', time: at(26), raw: 'EURUSD' })
  await post({ line: 'watched', resolution: '5', to: at(25) })
  expect(watched).toEqual([
    ['5', 25],
    ['10', 20],
  ])
})

test('a feed of MetaTrader 4 that has only the longer bars gets them', async () => {
  const { post, closed } = await begin('MT4', 0, ['10'])
  await post(group([bar(0), bar(5), bar(10)], true))
  expect(closed.map(([resolution, minutes]) => [resolution, minutes])).toEqual([['10', 0]])
})

test('history of the longer bars of MetaTrader 4 is asked for in finer ones, and whole bars are claimed only', async () => {
  const { source, post } = await begin('MT4', 0)
  const span = { from: at(-59), to: at(8) }
  const answers: SourceAnswer[] = []
  const reading = (async () => {
    for await (const answer of source.read({ raw: 'EURUSD', resolution: '10' }, span, never))
      answers.push(answer)
  })()
  const wanted = { from: at(-50), to: at(10) }
  const series = { raw: 'EURUSD', resolution: '5' } as const
  expect(await post()).toEqual([{ line: 'want', series, span: wanted }])
  await post(group([bar(-50), bar(-20), bar(-15), bar(0), bar(5)], true), {
    line: 'complete',
    series,
    span: wanted,
  })
  await reading
  expect(
    answers.flatMap(({ bars }) => toList(bars)).map(({ time, volume }) => [(time - noon) / 60, volume]),
  ).toEqual([
    [-50, 10],
    [-20, 20],
  ])
  expect(answers.every(({ bars, derived }) => derived === true || bars.time.length === 0)).toBe(true)
  expect(answers.at(-1)?.complete).toEqual({ from: span.from, to: at(0) })
})
