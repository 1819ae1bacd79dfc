import { expect, test } from 'vitest'
import { createLog } from './log.ts'
import { readableLine } from './log-text.ts'

const shown = (write: (log: ReturnType<typeof createLog>) => void): string => {
  let text = ''
  write(createLog('debug', { write: (line) => void (text += readableLine(line)) }))
  return text
}

test('a text line has the time, the level, the message and the fields', () => {
  expect(shown((log) => log.info({ feed: 'BROKERA:ZERO', bars: 12, note: 'two words' }, 'stored'))).toMatch(
    /^\d\d:\d\d:\d\dZ info {2}stored \(feed=BROKERA:ZERO, bars=12, note="two words"\)\n$/,
  )
})

test('a warning has its cause in one line, an error also the stack', () => {
  const err = new Error('connection refused')
  expect(shown((log) => log.warn({ err }, 'retrying'))).toMatch(
    /^\S+ warn {2}retrying: connection refused\n$/,
  )
  expect(shown((log) => log.error({ err }, 'failed'))).toMatch(
    /^\S+ error failed: connection refused\n\s+at .*\n/,
  )
})

test.each([
  [null, 'retrying'],
  ['a text', 'retrying: a text'],
])('a cause of %o, which is no error, makes one line', (err, text) => {
  expect(shown((log) => log.warn({ err }, 'retrying'))).toMatch(new RegExp(`^\\S+ warn {2}${text}\n$`))
})

test('a reason follows the message, before the fields', () => {
  expect(
    shown((log) => log.warn({ file: '/a.csv', why: 'no timeframe in the name' }, 'file not read')),
  ).toMatch(/ warn {2}file not read: no timeframe in the name \(file=\/a\.csv\)\n$/)
})

test('a cause of several lines makes one line, with a space for each line end', () => {
  const err = new Error('invalid:\n  a.yaml:1\n  b.yaml:2')
  expect(shown((log) => log.warn({ err }, 'rejected'))).toMatch(/ rejected: invalid: a\.yaml:1 b\.yaml:2\n$/)
})

test('control characters in logged text cannot move the cursor of a terminal', () => {
  const evil = 'a\u001b[2Jb\r\nc\u009b'
  const text = shown((log) => log.warn({ err: new Error(evil), field: evil, short: '\u001b' }, evil))
  // oxlint-disable-next-line no-control-regex
  expect(text.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/)
})
