# SPDX-License-Identifier: Apache-2.0
"""Both examples of the flown software's page, as printed there, but for braces around each event.

The page lost those.
"""

MAIN_PARACHUTE = """
{
"Events":[
{
"id": 0,
"name" : "main parachute", // this is an optional parameter
"single_fire": true,
"cooldown": 0,
"action": [
{
"type": "deployment",
"id": 1,
"param": 10000
}
],
"condition": {
"operator": "AND",
"condition": [
{
"operator": "MORETHAN",
"flightVar": "Position",
"component": 2,
"threshold": -500 //500m AGL in NED
},
{
"operator": "MORETHAN",
"flightVar": "TimeSinceApogee",
"threshold": 0
}
]
}
}
]
}
"""

ONE_G_FOR_TWO_SECONDS = """
{
"Events":[
{
"id": 0,
"single_fire": false,
"cooldown": 50, // realistic sampling?
"action": [
],
"condition": {
"operator": "MORETHAN",
"flightVar": "Acceleration",
"component": 2,
"threshold": -9.81 // 1g of upward acceleration
}
},
{
"id": 1,
"single_fire": true,
"cooldown": 0,
"action": [
{
"type": "deployment",
"id": 1,
"param": 10000
}
],
"condition": {
"operator": "MORETHAN",
"flightVar": "TimeSinceEvent",
"component":0, // aD > -1g
"threshold": 2000
}
}
]
}
"""
