import { Type } from 'typebox'
import { oneOf } from './one-of.ts'

/** Maximum symbols, and maximum entries of `since`, in one message of any plan. */
const listMax = 5_000
/** Maximum time, in the year 9999: milliseconds sent by mistake are greater. */
const timeMax = 253_402_300_799

const symbols = Type.Array(Type.String({ description: 'a compound key' }), {
  maxItems: listMax,
  description: `an array of at most ${listMax} compound keys`,
})
/** Maximum feeds in one message. */
const feedsMax = 100
const feeds = Type.Array(Type.String({ description: 'a feed, BROKER:ACCOUNT' }), {
  maxItems: feedsMax,
  description: `an array of at most ${feedsMax} feeds`,
})
/** For both actions with lists: `symbols` is needed unless the message has `feeds`. */
const eitherList = { anyOf: [{ required: ['symbols'] }, { required: ['feeds'] }] }

const time = Type.Integer({
  minimum: 0,
  maximum: timeMax,
  description: "a time in epoch seconds on the feed's clock",
})

const sinceWanted =
  `an object of at most ${listMax} symbols and times (epoch seconds on the feed's clock), ` +
  'or one time for symbols of one feed'
export const mustBeSince = `it must be ${sinceWanted}.`

const eventNames = ['feed', 'revised'] as const
export type EventName = (typeof eventNames)[number]
const events = Type.Array(oneOf(eventNames, 'feed or revised'), {
  maxItems: eventNames.length,
  description: 'an array of feed, revised or both',
})

const formats = ['bar', 'rows'] as const
/** `bar`: each bar in a frame of its own. `rows`: bars of one feed and one time in one frame. */
export type Format = (typeof formats)[number]

/** By action. Other fields are ignored. Error messages quote the description of an invalid field. */
export const clientMessages = {
  subscribe: Type.Object(
    {
      action: Type.Literal('subscribe'),
      type: Type.Optional(Type.Literal('bar', { description: 'bar' })),
      symbols: Type.Optional(symbols),
      feeds: Type.Optional(feeds),
      markers: Type.Optional(Type.Boolean({ description: 'true or false' })),
      events: Type.Optional(events),
      format: Type.Optional(oneOf(formats, 'bar or rows')),
      since: Type.Optional(
        Type.Union(
          [
            time,
            Type.Object({}, { additionalProperties: time, maxProperties: listMax, description: 'times' }),
          ],
          { description: sinceWanted },
        ),
      ),
    },
    eitherList,
  ),
  unsubscribe: Type.Object(
    {
      action: Type.Literal('unsubscribe'),
      type: Type.Optional(Type.Literal('bar', { description: 'bar' })),
      symbols: Type.Optional(symbols),
      feeds: Type.Optional(feeds),
    },
    eitherList,
  ),
  ping: Type.Object({ action: Type.Literal('ping') }),
} as const

export type ClientAction = keyof typeof clientMessages
export const clientActions = Object.keys(clientMessages) as readonly ClientAction[]
