import { expect, test } from 'vitest'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { LimitedLog } from './limited-log.ts'
import { createLog } from './log.ts'

test('each text is logged at once, then once a minute with its count, and the rest at the end', async () => {
  const clock = createVirtualClock()
  const lines: object[] = []
  const log = createLog('info', {
    write: (line: string) => {
      const { time: _, ...rest } = JSON.parse(line) as { time: string }
      lines.push(rest)
    },
  })
  const limited = new LimitedLog(log, clock)
  for (let i = 0; i < 5; i++) limited.write('error', { sequence: i }, 'sequence rejected')
  limited.write('warn', {}, 'symbols rejected')
  expect(lines.splice(0)).toEqual([
    { level: 50, sequence: 0, events: 1, msg: 'sequence rejected' },
    { level: 40, events: 1, msg: 'symbols rejected' },
  ])
  await clock.advance(60_000)
  for (let i = 5; i < 8; i++) limited.write('error', { sequence: i }, 'sequence rejected')
  expect(lines.splice(0)).toEqual([{ level: 50, sequence: 5, events: 5, msg: 'sequence rejected' }])
  limited.flush()
  limited.flush()
  expect(lines).toEqual([{ level: 50, events: 2, msg: 'sequence rejected' }])
})

test('lines about different things with the same text are limited separately, also at the end', () => {
  const lines: string[] = []
  const log = createLog('info', {
    write: (line: string) => {
      const { feed, events, msg } = JSON.parse(line) as Record<string, unknown>
      lines.push([feed, events, msg].join(' '))
    },
  })
  const limited = new LimitedLog(log, createVirtualClock())
  for (const feed of ['A', 'B', 'A', 'A', 'B']) limited.write('warn', { feed }, 'failed', feed)
  expect(lines.splice(0)).toEqual(['A 1 failed', 'B 1 failed'])
  limited.flush()
  expect(lines).toEqual([' 2 failed', ' 1 failed'])
})
