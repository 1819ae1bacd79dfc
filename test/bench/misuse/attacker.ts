/** One attack of the bench `misuse`, in a separate process. */
import { type Scene, Tally } from './attack.ts'
import { attacks } from './attacks.ts'

export interface AttackOrder extends Scene {
  readonly name: string
}
/** `ready`: everything is prepared. `begin` starts the attack; `end` sends its counts and ends it. */
export type AttackReport = { readonly ready: true } | { readonly counts: Readonly<Record<string, number>> }
export type AttackCommand = 'begin' | 'end'

const tally = new Tally()
const report = (message: AttackReport): void => void process.send?.(message)

process.once('disconnect', () => process.exit())
process.once('message', (order: AttackOrder) => {
  void prepare(order)
})

async function prepare({ name, ...scene }: AttackOrder): Promise<void> {
  const begin = await attacks.get(name)?.run(scene, tally)
  if (!begin) throw new Error(`${name} is no attack`)
  process.on('message', (command: AttackCommand) => {
    if (command === 'begin') return begin()
    process.send?.({ counts: tally.counts } satisfies AttackReport, () => process.exit())
  })
  report({ ready: true })
}
