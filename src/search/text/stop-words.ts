/**
 * Words that say nothing about which problem it is: English function words, and the vocabulary every notification is
 * wrapped in. They still count inside phrases of the synonym table (`out of memory`, `not ready`).
 */
export const stopWords: ReadonlySet<string> = new Set(
  `a about after again against all also an and any are as at be because been before being between both but by can could
  did do does down during each few for from further had has have he her here his how i if in into is it its just may me
  might more most must my no nor not now of off on once only or other our out over own s same shall she should so some
  such t than that the their them then there these they this those through to too under until up us very was we were what
  when where which while who why will with within would you your
  alert alertname alerts cause class chart component fires firing pagerduty resolved s1 s2 s3 s4 severity triggered
  triggers type`.split(/\s+/),
);
