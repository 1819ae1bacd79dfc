import fc from 'fast-check'
import { expect, test } from 'vitest'
import { joinSpans } from '../../core/bars/coverage.ts'
import type { Span } from '../../core/bars/window.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { type Resolution, storedResolutions } from '../../core/feeds/resolution.ts'
import { HistoryQueue } from './history-queue.ts'

const day = 86_400
const span = (from: number, to: number): Span => ({ from: feedSeconds(from), to: feedSeconds(to) })
const take = <T extends { resolution: Resolution }>(queue: HistoryQueue<T>) => {
  const units = []
  for (let unit = queue.next(); unit; unit = queue.next()) units.push(unit)
  return units
}

test('history is read newest day first over all series', () => {
  const queue = new HistoryQueue<{ name: string; resolution: Resolution }>()
  const [a, b] = [
    { name: 'A', resolution: '1' as const },
    { name: 'B', resolution: '1' as const },
  ]
  queue.add(a, [span(0, 2.5 * day)])
  queue.add(b, [span(day, 2.25 * day)])
  expect(take(queue).map(({ item, span: { from, to } }) => [item.name, from / day, to / day])).toEqual([
    ['A', 2, 2.5],
    ['B', 2, 2.25],
    ['A', 1, 2],
    ['B', 1, 2],
    ['A', 0, 1],
  ])
})

test('the newest week of minute bars is read before months of hour bars', () => {
  const queue = new HistoryQueue<{ resolution: Resolution }>()
  queue.add({ resolution: '60' }, [span(0, 400 * day)])
  queue.add({ resolution: '1' }, [span(390 * day, 400 * day)])
  const order = take(queue).map(({ item }) => item.resolution)
  expect(order.slice(0, 7)).toEqual(['1', '1', '1', '1', '1', '1', '60'])
})

test('every missing second is read once, for any missing spans', () => {
  const missing = fc
    .array(fc.tuple(fc.integer({ min: 0, max: 400 * day }), fc.integer({ min: 1, max: 90 * day })), {
      maxLength: 5,
    })
    .map((list) => joinSpans(list.map(([from, length]) => span(from, from + length))))
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...storedResolutions), missing), { maxLength: 6 }),
      (list) => {
        const queue = new HistoryQueue<{ resolution: Resolution }>()
        const wanted = list.map(([resolution, spans]) => ({ item: { resolution }, spans }))
        for (const { item, spans } of wanted) queue.add(item, spans)
        const units = take(queue)
        const minutes = units.filter(({ item }) => item.resolution === '1')
        const days = minutes.map((unit) => Math.floor((unit.span.to - 1) / day))
        expect(days).toEqual([...days].sort((x, y) => y - x))
        for (const { item, spans } of wanted) {
          const asked = units.filter((unit) => unit.item === item).map((unit) => unit.span)
          expect(joinSpans(asked)).toEqual(spans)
          const seconds = (all: readonly Span[]) => all.reduce((sum, { from, to }) => sum + to - from, 0)
          expect(seconds(asked)).toBe(seconds(spans))
        }
      },
    ),
  )
})

test('history added while the queue is read is sorted into it', () => {
  const queue = new HistoryQueue<{ resolution: Resolution }>()
  queue.add({ resolution: '1' }, [span(0, 2 * day)])
  expect(queue.next()?.span).toEqual(span(day, 2 * day))
  queue.add({ resolution: '1' }, [span(5 * day, 6 * day)])
  expect(queue.next()?.span).toEqual(span(5 * day, 6 * day))
  expect(queue.next()?.span).toEqual(span(0, day))
  expect(queue.next()).toBeUndefined()
})
