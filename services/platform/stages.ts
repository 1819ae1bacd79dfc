import { channel } from 'node:diagnostics_channel'

/** Stages of a live bar on its way from the collector's message to the sockets and into the store, in order. */
export const stages = [
  /** Ingest has the message. */
  'received',
  'checked',
  /** The bars are handed to the bus. */
  'publishing',
  /** The bus replied. */
  'published',
  /** A shard has the bars, read and decoded. */
  'delivered',
  /** Before the first write of a burst to a socket. */
  'writing',
  /** After the last write of a burst. */
  'written',
  /** A request with rows goes to the store. */
  'storing',
  /** The store confirmed the request. */
  'committed',
] as const
export type Stage = (typeof stages)[number]

export const channelOf = (stage: Stage) => channel(`fxd.${stage}`)

const channels = Object.fromEntries(stages.map((stage) => [stage, channelOf(stage)]))

/** Announces that bars reached this stage. Only the bench `minute` subscribes; without a subscriber it is free. */
export function markStage(stage: Stage): void {
  const to = channels[stage]
  if (to?.hasSubscribers) to.publish(stage)
}
