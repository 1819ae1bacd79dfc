import type { Findings } from './findings.ts'
import type { MovedClock } from './moved-clock.ts'
import type { Relay } from './relay.ts'
import type { SessionJudge } from './session-judge.ts'
import type { Sessions } from './sessions.ts'
import type { UnackedBars } from './unacked-bars.ts'

const pollMs = 50
/** Maximum wait for a live bar: one minute of bars, and its delay. */
const liveBarMsMax = 75_000
/** How long Acks are withheld. */
const holdMs = 6_000
/** A session must last this long for a judgement of its heartbeats. */
const sessionMsMin = 9_000
const unavailableMs = 4_000
/** Maximum calls in that time: pauses that grow from a quarter of a second allow fewer. */
const callsMax = 12
const secondMessageMsMax = 2_000
/** A small message counts as this many unacknowledged bars. More bars mean that a second message has arrived. */
const secondMessageBars = 10
const reconnectMsMax = 25_000
const resendMsMax = 15_000
const newSessionMsMax = 10_000
/** How far the clock of ingest is set forward, then half of it back. */
const forwardMs = 120_000
/** A live bar that seems older than this has a revision from another clock than that of ingest. */
const otherClockMs = 30_000

export interface Scene {
  readonly clock: MovedClock
  readonly relay: Relay
  readonly findings: Findings
  readonly unacked: UnackedBars
  readonly ending: AbortSignal
  readonly sessions: Sessions
  /** Tells what happens, in a sentence. */
  readonly say: (what: string) => void
}

/** Plays ingest with faults until everything was seen once, or until the end. */
export async function play(scene: Scene): Promise<void> {
  const { say } = scene
  say('waiting for the collector')
  if ((await until(scene, () => scene.sessions.leading, Number.POSITIVE_INFINITY)) === undefined) return
  say('waiting for a live bar')
  const isLive = (): boolean => {
    const { leading } = scene.sessions
    return leading !== undefined && !leading.isSlowing && (leading.bars?.newLive ?? 0) > 0
  }
  if (!(await until(scene, isLive, Number.POSITIVE_INFINITY))) return
  await withholdAcks(scene)
  await loseAcks(scene)
  if (!(await awaitReturn(scene))) return
  await setBack(scene)
}

/** Live bars must go on without Acks. */
async function withholdAcks(scene: Scene): Promise<void> {
  scene.say('withholding Acks; live bars must go on')
  hold(scene, true)
  await pause(scene, holdMs)
  await until(scene, () => (scene.sessions.leading?.bars?.newLiveWhileHeld ?? 2) > 1, liveBarMsMax)
  hold(scene, false)
  // What waited for the Acks comes now.
  await pause(scene, 1_000)
  await until(scene, () => (scene.sessions.leading?.ageMs ?? sessionMsMin) >= sessionMsMin, sessionMsMin)
}

/** Kills the connection while live bars have no Ack. */
async function loseAcks(scene: Scene): Promise<void> {
  const { relay, clock, findings, unacked } = scene
  scene.say('withholding Acks; the connection is killed after the next live bar')
  hold(scene, true)
  await until(scene, () => unacked.live > 0, liveBarMsMax)
  // With a second message their order can be judged.
  await until(scene, () => unacked.live > secondMessageBars, secondMessageMsMax)
  scene.say(`the connection is killed, and ingest is unavailable for ${unavailableMs / 1_000} s`)
  relay.isUnavailable = true
  relay.kill()
  hold(scene, false)
  await pause(scene, unavailableMs)
  relay.isUnavailable = false
  if (relay.refusedCalls > callsMax)
    findings.wrong(
      'reconnect',
      `the collector called ${relay.refusedCalls} times in ${unavailableMs / 1_000} s; make growing pauses up to 5 s`,
    )
  scene.say(`the clock of ingest is set forward by ${forwardMs / 1_000} s`)
  clock.set(forwardMs)
  scene.sessions.standsByNext = true
}

/** Waits for the next session, which must send again what got no Ack. False without a session. */
async function awaitReturn(scene: Scene): Promise<boolean> {
  const { findings, ending, unacked } = scene
  const session = await until(scene, () => scene.sessions.leading, reconnectMsMax)
  if (session === undefined) {
    if (!ending.aborted)
      findings.wrong(
        'reconnect',
        `no session began within ${reconnectMsMax / 1_000} s after a connection was killed`,
      )
    return false
  }
  findings.seen('reconnect')
  await expectResent(scene, session)
  scene.say('waiting for a new live bar')
  const isRead = (): boolean => (session.bars?.readAgoMsMin ?? 0) < Number.POSITIVE_INFINITY
  await until(scene, () => session.isOver || isRead(), liveBarMsMax)
  const agoMs = session.bars?.readAgoMsMin ?? Number.POSITIVE_INFINITY
  if (agoMs < Number.POSITIVE_INFINITY) findings.seen('revisions')
  if (agoMs > otherClockMs && agoMs < Number.POSITIVE_INFINITY)
    findings.wrong(
      'revisions',
      `revisions are ${Math.round(agoMs / 1_000)} s behind the clock of ingest; Welcome.utc_ms has its time`,
    )
  return unacked.owedLive === 0 || !ending.aborted
}

async function expectResent(scene: Scene, session: SessionJudge): Promise<void> {
  const { findings, ending, unacked } = scene
  await until(scene, () => session.isOver || unacked.owedLive === 0, resendMsMax)
  if (ending.aborted || session.isOver) return
  for (const bars of unacked.giveUpLive())
    findings.wrong('resend', `bars without an Ack did not come again in the next session: ${bars}`)
}

/** After the clock of ingest was set back, revisions are refused, and a new session must send the bars again. */
async function setBack(scene: Scene): Promise<void> {
  const { clock, findings, ending } = scene
  const session = scene.sessions.leading
  if (session === undefined) return
  scene.say(`the clock of ingest is set back by ${forwardMs / 2_000} s; bars are refused until a new session`)
  const liveBefore = session.bars?.newLive ?? 0
  clock.set(forwardMs / 2)
  const wasAccepted = (): boolean => (session.bars?.newLive ?? 0) > liveBefore + 1
  await until(scene, () => session.isOver || session.refusedRevisions > 0 || wasAccepted(), liveBarMsMax)
  if (session.refusedRevisions === 0) return
  await until(scene, () => session.isOver, newSessionMsMax)
  if (ending.aborted) return
  if (!session.isOver) {
    const late = `${session.refusedRevisions} bars were refused for their revision, and no new session began within`
    findings.wrong('clockSet', `${late} ${newSessionMsMax / 1_000} s`)
    return
  }
  const next = await until(scene, () => scene.sessions.leading, reconnectMsMax)
  if (next === undefined) return
  await expectResent(scene, next)
  if (next.bars?.hasReturnedRefused) findings.seen('clockSet')
  if (next.refusedRevisions > 0)
    findings.wrong('clockSet', 'bars came again with revisions that were refused again')
}

function hold({ relay, sessions }: Scene, isHeld: boolean): void {
  sessions.hold(isHeld)
  if (isHeld) relay.hold()
  else relay.release()
}

const pause = ({ clock, ending }: Scene, ms: number): Promise<void> => clock.clock.sleep(ms, ending)

/** Resolves with the first result that is neither `undefined` nor false; `undefined` after `ms` or at the end. */
async function until<T>(scene: Scene, read: () => T, ms: number): Promise<T | undefined> {
  const { clock } = scene.clock
  const begun = clock.monotonicMs()
  while (!scene.ending.aborted && clock.monotonicMs() - begun <= ms) {
    const found = read()
    if (found !== undefined && found !== false) return found
    await pause(scene, pollMs)
  }
  return undefined
}
