import { Type } from 'typebox'

/** Maximum symbols, and maximum entries of `since`, in one message of any plan. */
const listMax = 5_000
/** Maximum time, in the year 9999: milliseconds sent by mistake are greater. */
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
export const mustBeSince = `it must be ${sinceWanted}.`

/** By action. Other fields are ignored. Error messages quote the description of an invalid field. */
export const clientMessages = {
  subscribe: Type.Object({
    action: Type.Literal('subscribe'),
    type: Type.Optional(Type.Literal('bar', { description: 'bar' })),
    symbols,
    markers: Type.Optional(Type.Boolean({ description: 'true or false' })),
    format: Type.Optional(Type.Literal('rows', { description: 'rows' })),
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
