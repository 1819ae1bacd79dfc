import { expect, test } from 'vitest'
import { createLog } from './log.ts'

const logged = (err: Error): Record<string, unknown> => {
  const lines: string[] = []
  createLog('info', { write: (line) => void lines.push(line) }).warn({ err }, 'failed')
  return JSON.parse(lines[0] ?? '{}').err
}

test('an error is logged with its words, its code and its causes, without what a library hung on it', () => {
  const cause = Object.assign(new Error('WRONGPASS'), { command: { name: 'auth', args: ['fxd', 'hush'] } })
  const err = Object.assign(new Error('away', { cause }), { code: 'ECONNRESET', ...cause })
  const { message, stack, ...more } = logged(err)
  expect(message).toBe('away: WRONGPASS')
  expect(stack).toContain('log.test.ts')
  expect(more).toEqual({ type: 'Error', code: 'ECONNRESET' })
  const [first] = logged(new AggregateError([cause], 'both'))['aggregateErrors'] as string[]
  expect(first).toBe('WRONGPASS')
})
