import { expect, test } from 'vitest'
import { liveText, troubleText } from './live-text.ts'

test.for([
  [
    'TOO_MANY_CONNECTIONS: all connections of the key are in use; retrying',
    {},
    'All connections of your key are in use. New bars come once one is free.',
  ],
  [
    'socket ended; retrying',
    { code: 1006 },
    'The connection for new bars is interrupted. The page connects again by itself.',
  ],
  [
    'request failed; retrying',
    { code: 'RATE_LIMIT_EXCEEDED' },
    'Your key has used up its requests for now. The page asks again by itself.',
  ],
  ['symbols rejected', {}, undefined],
] as const)('the warning "%s" of the client means for a person: %s', ([message, fields, text]) => {
  expect(troubleText(message, fields)).toBe(text)
})

test.for([
  [false, 'Trouble.', 'offline', 'Scroll right for newer bars.'],
  [true, '', 'live', 'New bars are added as they close.'],
  [true, 'Trouble.', 'live', 'Trouble.'],
  [true, '', 'stale', 'New bars are added as they close. The feed is stale: its bars are late.'],
  [true, 'Trouble.', 'offline', 'Trouble. The feed is offline: no terminal answers for newer times.'],
] as const)(
  'of a live chart: %s, with trouble "%s" and a feed that is %s: %s',
  ([live, trouble, feed, text]) => {
    expect(liveText(live, trouble, feed)).toBe(text)
  },
)
