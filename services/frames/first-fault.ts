import type { TSchema } from 'typebox'
import { type ClientAction, clientActions, clientMessages } from './client-messages.ts'
import { faultOf } from './fault-of.ts'

export const isAction = (action: unknown): action is ClientAction =>
  (clientActions as readonly unknown[]).includes(action)

/** The first invalid field of a message of this action, in the order of the schema. */
export function firstFault(
  message: Readonly<Record<string, unknown>>,
  action: ClientAction,
): { readonly field: string; readonly message: string } | undefined {
  const { properties } = clientMessages[action]
  const required: readonly string[] = clientMessages[action].required
  for (const [field, schema] of Object.entries<TSchema>(properties)) {
    const value = message[field]
    const isNeeded = required.includes(field) || (field === 'symbols' && message['feeds'] === undefined)
    if (value === undefined && !isNeeded) continue
    const fault = faultOf(field, value, schema)
    if (fault !== undefined) return { field, message: fault }
  }
  return undefined
}
