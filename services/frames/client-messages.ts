import { Type } from 'typebox'

/** Symbols, and entries of `since`, that one message may list, whatever the plan. */
const listMax = 5_000
/** The year 9999: milliseconds sent by mistake lie beyond. */
const timeMax = 253_402_300_799

const symbols = Type.Array(Type.String({ description: 'a compound key' }), {
  maxItems: listMax,
  description: `an array of at most ${listMax} compound keys`,
})
const time = Type.Integer({
  minimum: 0,
  maximum: timeMax,
  description: "a time in epoch seconds on the feed's clock",
})

const sinceWanted =
  `an object of at most ${listMax} symbols and times (epoch seconds on the feed's clock), ` +
  'or one time for symbols of one feed'
export const wantsSince = `it wants ${sinceWanted}.`

/**
 * What a client may say, by action. Fields that are not named here are ignored. An error message says that
 * a field wants what its description says.
 */
export const clientMessages = {
  subscribe: Type.Object({
    action: Type.Literal('subscribe'),
    type: Type.Optional(Type.Literal('bar', { description: 'bar' })),
    symbols,
    markers: Type.Optional(Type.Boolean({ description: 'true or false' })),
    since: Type.Optional(
      Type.Union(
        [time, Type.Object({}, { additionalProperties: time, maxProperties: listMax, description: 'times' })],
        { description: sinceWanted },
      ),
    ),
  }),
  unsubscribe: Type.Object({
    action: Type.Literal('unsubscribe'),
    type: Type.Optional(Type.Literal('bar', { description: 'bar' })),
    symbols,
  }),
  ping: Type.Object({ action: Type.Literal('ping') }),
} as const

export type ClientAction = keyof typeof clientMessages
export const clientActions = Object.keys(clientMessages) as readonly ClientAction[]
