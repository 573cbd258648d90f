% Vehicles. Generated with seed 1.
threshold(van0, fuel, 80.0).
threshold(van0, speed, 100).
threshold(van1, fuel, 80.0).
threshold(van1, speed, 90).
threshold(van2, fuel, 80.0).
threshold(van2, speed, 100).
