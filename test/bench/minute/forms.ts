/** How the bars of a minute are sent. */
export interface Form {
  readonly cadence: 'once a minute' | 'back to back'
  readonly messages: 4 | 40
  /** Whether the collectors can send again what was lost: their bars are published before their commit. */
  readonly isRereadable: boolean
}

export const real: Form = { cadence: 'once a minute', messages: 4, isRereadable: true }
const real40: Form = { ...real, messages: 40 }
export const realPush: Form = { ...real, isRereadable: false }
const backToBack: readonly Form[] = [real, real40, realPush].map((form) => ({
  ...form,
  cadence: 'back to back',
}))

/** Bursts back to back come first: they let the processes compile what they run, as in hours of use. */
export const forms: readonly Form[] = [...backToBack, real, real40, realPush]

/** Number of unmeasured bursts before the measured ones. The first minute after bursts back to back is warmer than others. */
export const unmeasured = (form: Form): number =>
  form.cadence === 'back to back' ? 10 : form === real ? 1 : 0

export const nameOf = ({ cadence, messages, isRereadable }: Form): string =>
  `${cadence}, ${messages} messages, ${isRereadable ? 'resending' : 'Push'}`
