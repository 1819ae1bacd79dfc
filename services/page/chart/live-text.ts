import type { FeedStatus } from '../../../clients/typescript/src/types.ts'
import { failureText } from '../texts/failures.ts'

/** What a warning of the client's stream means for a person; `undefined`: nothing. */
export function troubleText(message: string, fields: object): string | undefined {
  if (message.startsWith('TOO_MANY_CONNECTIONS'))
    return 'All connections of your key are in use. New bars come once one is free.'
  if (message.startsWith('socket ended'))
    return 'The connection for new bars is interrupted. The page connects again by itself.'
  if (message.startsWith('request failed') && 'code' in fields)
    return failureText({ code: String(fields.code), message })
  return undefined
}

const states: Readonly<Record<FeedStatus['status'], string>> = {
  live: '',
  stale: ' The feed is stale: its bars are late.',
  offline: ' The feed is offline: no terminal answers for newer times.',
}

/** Whether new bars come, and why not. */
export function liveText(isLive: boolean, trouble: string, feed?: FeedStatus['status']): string {
  if (!isLive) return 'Scroll right for newer bars.'
  return `${trouble || 'New bars are added as they close.'}${feed === undefined ? '' : states[feed]}`
}
