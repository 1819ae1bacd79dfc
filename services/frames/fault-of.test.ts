import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import type { TSchema } from 'typebox'
import { expect, test } from 'vitest'
import { effort } from '../../test/support/effort.ts'
import { clientActions, clientMessages } from './client-messages.ts'
import { faultOf } from './fault-of.ts'

const ajv = new Ajv2020({ strict: false })
const time = fc.oneof(
  fc.integer({ min: -2, max: 253_402_300_801 }),
  fc.constantFrom(0, 253_402_300_799, 253_402_300_800, 0.5, 1e300),
)
const field = fc.oneof(
  fc.jsonValue(),
  fc.boolean(),
  fc.constantFrom('subscribe', 'unsubscribe', 'ping', 'bar'),
  fc.array(fc.string()),
  fc.array(fc.constantFrom('feed', 'revised', 'bar'), { maxLength: 3 }),
  fc.array(fc.oneof(fc.string(), fc.jsonValue())),
  time,
  fc.dictionary(fc.string(), time),
  fc.integer({ min: 4_999, max: 5_001 }).map((length) => Array.from({ length }, (_, n) => `s${n}`)),
  fc
    .integer({ min: 4_999, max: 5_001 })
    .map((length) => Object.fromEntries(Array.from({ length }, (_, n) => [`s${n}`, n]))),
)
const fields = clientActions.flatMap((action) =>
  Object.entries<TSchema>(clientMessages[action].properties).map(
    ([name, schema]) => [action, name, schema] as const,
  ),
)

/** Both get parsed JSON, which has neither `undefined` nor -0. */
const overTheWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

test.each(fields)(
  'in the message %s `faultOf` accepts the field %s exactly when a full validator does',
  (_, name, schema) => {
    const validate = ajv.compile(schema)
    fc.assert(
      fc.property(field, (given) => {
        const value = overTheWire(given)
        return (faultOf(name, value, schema) === undefined) === validate(value)
      }),
      { numRuns: Math.ceil(200 * effort) },
    )
  },
)

test.each([
  ['symbols', ['a', 'b', 7], 'symbols[2] is number 7; it must be a compound key.'],
  ['symbols', 'a', 'symbols is "a"; it must be an array of at most 5000 compound keys.'],
  ['type', 'tick', 'type is "tick"; it must be bar.'],
  ['markers', null, 'markers is null; it must be true or false.'],
  [
    'since',
    { 'A:B:C': '1' },
    'since of "A:B:C" is "1"; it must be a time in epoch seconds on the feed\'s clock.',
  ],
  [
    'since',
    -1,
    'since is number -1; it must be an object of at most 5000 symbols and times (epoch seconds on the ' +
      "feed's clock), or one time for symbols of one feed.",
  ],
] as const)('%s: a fault has the field, its value and what is wanted', (name, value, sentence) => {
  expect(faultOf(name, value, clientMessages.subscribe.properties[name])).toBe(sentence)
})
