import { clientActions, clientMessages } from '../../../frames/client-messages.ts'
import { serverFrames } from '../../../frames/server-frames.ts'

const summaries: Readonly<Record<keyof typeof clientMessages | keyof typeof serverFrames, string>> = {
  subscribe:
    'Adds symbols, and all symbols of `feeds`, now and later. With `since` the closed bars after a time come first; its symbols must be in `symbols`. ' +
    'With the `format` rows of the first subscribe the bars of this connection come in `bars` frames; bar is the default.',
  unsubscribe: 'Removes symbols, and all symbols of `feeds`.',
  ping: 'Asks for a pong. A client that sends neither message nor ping for 60 s is closed with 4000.',
  connected: 'The first frame of each connection.',
  subscribed: 'Answers subscribe, or comes when symbols of a whole feed join.',
  unsubscribed: 'Answers unsubscribe, or comes when a grant is withdrawn.',
  bar: 'One closed minute of a subscribed symbol.',
  bars: 'Closed minutes of one feed with one time. Instead of `bar`, if the first subscribe had the `format` rows.',
  pong: 'Answers ping.',
  minute: 'All bars of a minute of a feed were sent. Only after a subscribe with `markers`.',
  feed: 'The status of a feed, first and within 5 s of a change. Only after a subscribe with `events`.',
  revised:
    'History shows other bars in a range. Only after a subscribe with `events`, at most once a second for each series.',
  error: 'A message was refused, or the connection is about to be closed.',
  gap: 'Bars of these symbols may be missing on this connection; read them from /v1/history.',
}

type Name = keyof typeof summaries
const channel = { $ref: '#/channels/stream' }
const onChannel = (...names: readonly Name[]) =>
  names.map((name) => ({ $ref: `#/channels/stream/messages/${name}` }))

/** The server sends them without a message of the client, too. */
const pushed = (Object.keys(serverFrames) as Name[]).filter((name) => name !== 'pong')

/** Each message gets one answer, in the order of the messages. */
const answers = { subscribe: 'subscribed', unsubscribe: 'unsubscribed', ping: 'pong' } as const

/** The AsyncAPI 3.0 document of the WebSocket, from the schemas that parse its messages. */
export function asyncapiDocument() {
  const schemas = { ...clientMessages, ...serverFrames }
  const names = Object.keys(schemas) as Name[]
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'fxd',
      version: 'v1',
      description:
        'Each closed one-minute bar over WebSocket. Text frames of JSON; those of a client have at most 64 KiB. Above 50 ' +
        'messages a second a client is read more slowly; long lists count as several messages. REST is described by ' +
        '/openapi.json.',
    },
    servers: {
      here: {
        host: '{host}',
        protocol: 'ws',
        description: 'Behind a proxy that ends TLS the protocol is wss.',
        variables: { host: { default: '127.0.0.1:8080' } },
        security: ['header', 'bearer', 'query'].map((name) => ({
          $ref: `#/components/securitySchemes/${name}`,
        })),
      },
    },
    channels: {
      stream: {
        address: '/v1/stream',
        messages: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/messages/${name}` }])),
      },
    },
    operations: {
      ...Object.fromEntries(
        clientActions.map((action) => [
          action,
          {
            action: 'receive',
            channel,
            messages: onChannel(action),
            reply: { channel, messages: onChannel(answers[action], 'error') },
          },
        ]),
      ),
      push: {
        action: 'send',
        channel,
        summary: 'Frames that the server sends without a message of the client.',
        messages: onChannel(...pushed),
      },
    },
    components: {
      messages: Object.fromEntries(
        names.map((name) => [
          name,
          {
            name,
            summary: summaries[name],
            contentType: 'application/json',
            payload: { $ref: `#/components/schemas/${name}` },
          },
        ]),
      ),
      schemas,
      securitySchemes: {
        header: { type: 'httpApiKey', in: 'header', name: 'X-API-Key' },
        bearer: { type: 'http', scheme: 'bearer' },
        query: { type: 'httpApiKey', in: 'query', name: 'api_key' },
      },
    },
  }
}
