import type { RegistryView } from '../../core/registry/registry.ts'
import { terminalPinId } from '../../core/registry/terminal-pin.ts'
import type { RegistryWriter } from '../../registry/writer.ts'
import type { AcceptTerminalResponse } from '../../wire/gen/fxd/v1/AcceptTerminalResponse.ts'
import { feedRecordOf } from './feeds.ts'
import { failedPrecondition } from './refusal.ts'

/** The feed accepts the next terminal. Resolves with the one that it accepted before. */
export async function acceptTerminal(
  { key }: { readonly key: string },
  writer: RegistryWriter,
): Promise<AcceptTerminalResponse> {
  const before = await writer.change((view: RegistryView) => {
    const { definition } = feedRecordOf(key, view)
    const feed = definition.key
    if (definition.source.type !== 'Terminal')
      throw failedPrecondition(
        `The source of ${feed} is ${definition.source.type}; only a feed with source Terminal has a terminal.`,
      )
    const had = view.terminals.get(feed)
    const rows =
      had === undefined ? [] : [{ kind: 'terminal' as const, id: terminalPinId(feed), body: { feed } }]
    return { rows, result: had }
  })
  return before === undefined ? {} : { terminalIdentity: before }
}
