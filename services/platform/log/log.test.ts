import { expect, test } from 'vitest'
import { createLog } from './log.ts'

const logged = (err: unknown): Record<string, unknown> => {
  const lines: string[] = []
  createLog('info', { write: (line) => void lines.push(line) }).warn({ err }, 'failed')
  return (JSON.parse(lines[0] ?? '{}') as { err: Record<string, unknown> }).err
}

test('an error is logged with its message, code and causes, without fields that a library added', () => {
  const sent = { command: { name: 'auth', args: ['fxd', 'hush'] } }
  const cause = Object.assign(new Error('WRONGPASS'), sent)
  const err = Object.assign(new Error('away', { cause }), { code: 'ECONNRESET' }, sent)
  const { message, stack, ...more } = logged(err)
  expect(message).toBe('away: WRONGPASS')
  expect(stack).toContain('log.test.ts')
  expect(more).toEqual({ type: 'Error', code: 'ECONNRESET' })
  expect(logged(new AggregateError([cause], 'both'))).toMatchObject({ causes: ['Error: WRONGPASS'] })
})

test('a string in place of an error is logged as it is', () => {
  expect(logged('line 3 is wrong')).toBe('line 3 is wrong')
})
