import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { StreamSocket } from '../../../test/acceptance/client/socket.ts'
import { until } from '../../../test/acceptance/client/until.ts'
import { checkSequence } from '../../../test/support/check-sequence.ts'
import { effort } from '../../../test/support/effort.ts'
import {
  a,
  applied,
  b,
  faults,
  fixture,
  lose,
  subscribed,
  useLossyStream,
} from '../../../test/support/fixtures/lossy-stream-fixture.ts'
import { minutesOf, timeOf, zero } from '../../../test/support/fixtures/stream-fixture.ts'
import { type CompoundKey, compoundKey } from '../../core/feeds/compound-key.ts'
import { queuedMsMax } from './hole.ts'

useLossyStream()

type Received = Parameters<typeof checkSequence>[1]

/** The bars and gaps of a symbol in the order in which they arrived. */
const receivedOf = (socket: StreamSocket, symbol: CompoundKey): Received =>
  socket.messages.flatMap((message): Received => {
    if (message.type === 'bar' && message.symbol === symbol)
      return [{ type: 'bar', time: (message.bar as { time: number }).time }]
    const gaps = message.code === 'GAP' ? (message.gaps as { symbol: string; after?: number }[]) : []
    return gaps
      .filter((gap) => gap.symbol === symbol)
      .map(({ after = 0 }) => ({ type: 'gap', after, until: Number.POSITIVE_INFINITY }))
  })

test('every bar is delivered in order or named, after any losses and any delay of the store', {
  timeout: 60_000 * Math.max(1, effort),
}, async () => {
  const step = fc.record({
    symbols: fc.subarray([0, 1, 2], { minLength: 1 }),
    lost: fc.boolean(),
    applied: fc.constantFrom('no', 'yes', 'lost'),
    away: fc.boolean(),
    // The sum of all waits is below the idle timeout of a socket.
    waitMs: fc.constantFrom(0, 0, 1_000, 3_000),
  })
  let minute = 1_000
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
      faults.away = false
      const symbols = [a, b, compoundKey(zero, 'SYM39')]
      const socket = await subscribed(...symbols)
      const published: { symbol: CompoundKey; minute: number }[] = []
      for (const each of steps) {
        const closed = each.symbols.map((i) => symbols[i] as CompoundKey)
        minute += 1
        published.push(...closed.map((symbol) => ({ symbol, minute })))
        const publish = () => fixture.publish(closed, minute)
        const position = each.lost ? await lose(publish) : await publish()
        for (const symbol of closed) await fixture.store(symbol, [minute])
        faults.away = each.away
        if (each.applied === 'lost') await lose(() => applied(position))
        else if (each.applied === 'yes') await applied(position)
        if (each.waitMs > 0) await fixture.clock.advance(each.waitMs)
      }
      await fixture.publish(symbols, ++minute)
      await fixture.clock.advance(queuedMsMax)
      // A read in another thread takes real time; an unavailable store takes at most 10 s of this clock.
      await until('the last bars', async () => {
        await fixture.clock.advance(1_000)
        return symbols.every((symbol) => minutesOf(socket, symbol).at(-1) === minute)
      })
      for (const symbol of symbols) {
        const times = published.filter((bar) => bar.symbol === symbol).map((bar) => timeOf(bar.minute))
        const expected = (after = 0, before: number): number[] =>
          times.filter((time) => time > after && time < before)
        expect(checkSequence(symbol, receivedOf(socket, symbol), undefined, expected)).toEqual([])
      }
      await socket.close()
    }),
    { numRuns: Math.ceil(25 * effort) },
  )
})
