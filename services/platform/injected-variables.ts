/**
 * Kubernetes gives every container of a namespace variables about its Services, named after them. Those of a Service
 * whose name begins with `fxd` begin with `FXD_` and say nothing to us.
 */
const ofServices =
  /^FXD(_[A-Z0-9]+)*_(SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/

/** Whether Kubernetes, not a person, set a variable of this name. */
export const isInjected = (name: string): boolean => ofServices.test(name)
