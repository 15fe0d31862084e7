# SPDX-License-Identifier: Apache-2.0
"""The flight configuration language: documents to events, deployers, engines and sensors.

It imports `flight` and `settings`.
"""
