import { expect, test } from 'vitest'
import { onlyEurusd, openTerminalSource } from '../../../../test/support/fixtures/terminal-source-fixture.ts'
import { createVirtualClock } from '../../../../test/support/fixtures/virtual-clock.ts'
import { terminalHello } from '../../../../test/support/samples/posting-terminal.ts'
import { feedSeconds } from '../../../core/clocks/feed-clock.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'
import type { TerminalLine } from '../../../core/terminal/lines.ts'

const noon = Date.UTC(2026, 0, 5, 12) / 1_000
const at = (seconds: number) => feedSeconds(noon + seconds)

const forming = (resolution: Resolution, time: number, close: string): TerminalLine => ({
  line: 'bars',
  series: { raw: 'EURUSD', resolution },
  bars: [{ time: at(time), open: '1.1', high: '1.3', low: '1.0', close, volume: 7 }],
  lastIsOpen: true,
})

/** A terminal of a feed with 1 and 5 whose last tick came at 12:04:50. */
async function begin() {
  const clock = createVirtualClock({ start: noon * 1_000 })
  const closed: [Resolution, number, number | undefined][] = []
  const watched: [Resolution, number][] = []
  const { source, post } = await openTerminalSource(clock, ['1', '5'], {
    reportFrom: () => at(0),
    closed(batch) {
      for (const { resolution, bars } of batch)
        bars.time.forEach((time, i) => {
          closed.push([resolution, time - noon, bars.close[i]])
        })
      return { spooled: Promise.resolve() }
    },
    watched: (resolution, { to }) => void watched.push([resolution, to - noon]),
  })
  await source.begin(1, terminalHello)
  const sweep = (...lines: TerminalLine[]) => post(...lines, { line: 'connected', is: true })
  await post(...onlyEurusd)
  await clock.advance(290_000)
  await sweep({ line: 'tick', time: at(290), raw: 'EURUSD' })
  return { clock, post, sweep, closed, watched }
}

test('a longer bar in a post of its own, after a sweep that was answered 5 s after its end, closes without a tick', async () => {
  const { clock, post, sweep, closed } = await begin()
  await post(forming('5', 0, '1.11'))
  await clock.advance(14_000)
  await sweep()
  await post(forming('5', 0, '1.12'))
  expect(closed).toEqual([])
  await clock.advance(1_000)
  await sweep()
  await post(forming('5', 0, '1.12'))
  expect(closed).toEqual([['5', 0, 1.12]])
})

test('a minute does not close without a tick in a post that does not sweep: it may be older than the end', async () => {
  const { clock, post, sweep, closed } = await begin()
  await sweep(forming('1', 240, '1.11'))
  await clock.advance(15_000)
  await sweep()
  await post(forming('5', 0, '1.12'))
  expect(closed.filter(([resolution]) => resolution === '1')).toEqual([])
  await sweep()
  expect(closed.filter(([resolution]) => resolution === '1')).toEqual([['1', 240, 1.11]])
})

test('a sweep claims no time that neither tick nor clock has reached', async () => {
  const { clock, post, watched } = await begin()
  await post({ line: 'watched', resolution: '1', to: at(3_600) })
  await clock.advance(75_000)
  await post({ line: 'watched', resolution: '1', to: at(3_600) })
  await post({ line: 'watched', resolution: '5', to: at(3_600) })
  expect(watched).toEqual([
    ['1', 240],
    ['1', 360],
    ['5', 300],
  ])
})
